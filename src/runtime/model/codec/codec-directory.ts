import type { CodecName } from "../../protocol/agent-definition.ts";
import type { ModelProvider } from "../model-provider.ts";
import { withCodec } from "./codec-provider.ts";
import type { CodecOptions } from "./codec-provider.ts";
import { jsonCodec } from "./json-codec.ts";
import { reactCodec } from "./react-codec.ts";
import type { ToolCallCodec } from "./tool-call-codec.ts";

/** Null: the model calls tools itself, and its replies stream as they come. */
const CODECS: Readonly<Record<CodecName, ToolCallCodec | null>> = {
  native: null,
  json: jsonCodec,
  react: reactCodec,
};

/** The model as it calls tools by the codec of this name. */
export function withCodecNamed(
  provider: ModelProvider,
  name: CodecName,
  options: CodecOptions = {},
): ModelProvider {
  const codec = CODECS[name];
  return codec ? withCodec(provider, codec, options) : provider;
}
