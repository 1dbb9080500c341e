import type { OpenApiDocument, OpenApiOperation } from "./openapi.ts";

/**
 * The API's description as a page for people. Made here, so that it needs no script.
 * @param nonce What the page's content security policy lets its one style sheet in by
 */
export function docsPage(document: OpenApiDocument, nonce: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))];
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === tag);
    const entries = own.map(({ path, method, operation }) => entry(method, path, operation));
    return `<h2 id="${escape(tag)}">${escape(tag)}</h2>${entries.join("")}`;
  });
  const links = tags.map((tag) => `<a href="#${escape(tag)}">${escape(tag)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(document.info.title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="${nonce}">${STYLE}</style></head>
<body><h1>${escape(document.info.title)} API</h1><p>${prose(document.info.description)}</p>
<p>For machines: <a href="/openapi.json">openapi.json</a></p><nav>${links.join(" · ")}</nav>
${sections.join("\n")}</body></html>`;
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .5rem; background: color-mix(in srgb, currentColor 8%, transparent); }
details { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .4rem 0; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
`;

function entry(method: string, path: string, operation: OpenApiOperation): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const parts = [
    `<p>${escape(description)}</p>`,
    parameters.length > 0 ? `<p>Parameters</p>${json(parameters)}` : "",
    requestBody ? `<p>Body</p>${json(requestBody)}` : "",
    `<p>Answers</p>${json(responses)}`,
  ];
  const title = `<b>${escape(method.toUpperCase())}</b> <code>${escape(path)}</code> — ${escape(summary)}`;
  return `<details id="${escape(operation.operationId)}"><summary>${title}</summary>${parts.join("")}</details>`;
}

function json(value: unknown): string {
  return `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

/** Text with `code` in backquotes. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
