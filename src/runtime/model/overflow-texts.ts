/**
 * How vendors say that a request does not fit the context window; most of them have no code for it. Each line names
 * whose wording it is. z.ai and Ollama are missing because they say nothing.
 */
const OVERFLOW_TEXTS: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic: "prompt is too long: N tokens > M maximum"
  /request_too_large/i, // Anthropic, for the bytes of the request
  /exceeds the context window/i, // OpenAI
  /context[_ ]length[_ ]exceeded/i, // OpenAI's code, which gateways put into the text
  /maximum context length is \d/i, // OpenRouter, vLLM, DeepSeek
  /model's context length is only \d/i, // vLLM: "You passed N input tokens and requested M output tokens …"
  /input token count.*exceeds the maximum/i, // Gemini
  /input is too long for requested model/i, // Bedrock
  /maximum prompt length is \d/i, // xAI
  /reduce the length of the messages/i, // Groq
  // GitHub Copilot says no more than this, so sizes of other things are told apart by their unit.
  /exceeds the limit of [\d,]+(?![\d,])(?!\s*(?:[kmg]i?b|bytes|characters|images|files|tools|requests)\b)/i,
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /too large for model with \d+ maximum context length/i, // Mistral
  /tokens in request more than max tokens allowed/i,
  /too many tokens/i,
  /token limit exceeded/i,
];

/** Whether the text of a refusal says that the request is too long for the model. */
export function saysOverflow(text: string): boolean {
  return OVERFLOW_TEXTS.some((pattern) => pattern.test(text));
}

/** Where those who say how large the window is say it. */
const WINDOW_TEXTS: readonly RegExp[] = [
  /tokens > ([\d,]+) maximum/i, // Anthropic
  /maximum context length is ([\d,]+)/i, // OpenAI, OpenRouter, vLLM, DeepSeek
  /context length is only ([\d,]+)/i, // vLLM
  /exceeds the maximum number of tokens allowed \(([\d,]+)\)/i, // Gemini
  /maximum prompt length is ([\d,]+)/i, // xAI
  /exceeds the limit of ([\d,]+)/i, // GitHub Copilot
  /available context size \(([\d,]+)/i, // llama.cpp
  /exceeded model token limit: ([\d,]+)/i, // Kimi
  /too large for model with ([\d,]+) maximum context length/i, // Mistral
];
/** A smaller number is of something else. */
const LEAST_WINDOW = 256;

/** The tokens of the window that the text of a refusal names; null where it names none. */
export function windowIn(text: string): number | null {
  for (const pattern of WINDOW_TEXTS) {
    const tokens = Number(pattern.exec(text)?.[1]?.replaceAll(",", ""));
    if (Number.isSafeInteger(tokens) && tokens >= LEAST_WINDOW) return tokens;
  }
  return null;
}
