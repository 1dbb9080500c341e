import DOMPurify from "dompurify";
import { Marked } from "marked";
import type { Token } from "marked";

const ALLOWED_TAGS =
  "p br hr h1 h2 h3 h4 h5 h6 blockquote pre code ul ol li strong em del a table thead tbody tr th td".split(
    " ",
  );
const ALLOWED_ATTRIBUTES = ["href", "title", "start", "align"];
/** Where a click may lead. A path would lead into this page. */
const LINK = /^(https?:\/\/|mailto:)/i;

const marked = new Marked({
  gfm: true,
  renderer: {
    // What a model writes as HTML is shown as it was written.
    html: ({ text }) => escapeHtml(text),
    // An image is fetched by nobody until somebody clicks: its address can carry away what the model has read.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">Image: ${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  if (!LINK.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  else {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
});

/**
 * The blocks of a Markdown text as HTML that is not safe yet, so that a text that grows is sanitized and drawn anew
 * in its last block only. Null when it cannot be parsed, as too deep nesting: show it as it is.
 */
export function markdownBlocks(text: string): string[] | null {
  try {
    return marked
      .lexer(text)
      .map((token: Token) => marked.parser([token]))
      .filter((html) => html !== "");
  } catch {
    return null;
  }
}

/** HTML that runs nothing, requests nothing and looks like nothing but text. */
export function sanitize(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ALLOWED_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? "");
}
