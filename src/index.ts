/** The runtime as a library: it runs in Node, in Workers and in browsers alike, and knows nothing of Cloudflare. */

// Agents
export { Agent, createAgent } from "./runtime/agent/agent.ts";
export type { AgentOptions } from "./runtime/agent/agent-options.ts";
export type { AgentState } from "./runtime/agent/agent-state.ts";
export type { TurnResult } from "./runtime/agent/turn-result.ts";
export type { AgentToolContext } from "./runtime/agent/agent-tool-context.ts";
export { agentLoop } from "./runtime/loop/agent-loop.ts";
export type { AgentLoopOptions } from "./runtime/loop/agent-loop.ts";
export type { AgentHooks, HookContext, Middleware } from "./runtime/loop/hooks.ts";
export { nextAction } from "./runtime/loop/next-action.ts";
export type { Action, ActionSettings } from "./runtime/loop/next-action.ts";

// Models
export type { ModelProvider, ModelReply, ModelRequest, ModelStream } from "./runtime/model/model-provider.ts";
export { ModelError } from "./runtime/model/model-error.ts";
export { findModel } from "./runtime/model/model-directory.ts";
export { createOpenAiProvider } from "./runtime/model/openai-provider.ts";
export { generateStructured } from "./runtime/model/structured/generate-structured.ts";
export { withOutput } from "./runtime/model/structured/output-provider.ts";
export { compileOutputSchema, zodOutputSchema } from "./runtime/model/structured/output-schema.ts";
export { withCodec } from "./runtime/model/codec/codec-provider.ts";
export { jsonCodec } from "./runtime/model/codec/json-codec.ts";
export { reactCodec } from "./runtime/model/codec/react-codec.ts";
export type { ToolCallCodec } from "./runtime/model/codec/tool-call-codec.ts";
export { routeModels } from "./runtime/model/router/model-router.ts";
export type { ModelRoute } from "./runtime/model/router/model-router.ts";
export { ModelHealth } from "./runtime/model/router/model-health.ts";
export { ModelRateLimiter } from "./runtime/guard/model-rate-limiter.ts";
export { createDemoProvider } from "./runtime/model/demo/demo-provider.ts";
export { createScriptedProvider } from "./runtime/model/scripted-provider.ts";

// Tools and workspaces
export { defineTool } from "./runtime/tool/tool.ts";
export type { Tool, ToolContext, ToolResult } from "./runtime/tool/tool.ts";
export { ToolRegistry } from "./runtime/tool/tool-registry.ts";
export { MemoryWorkspaceSource } from "./runtime/workspace/memory-workspace.ts";
export type { Workspace } from "./runtime/workspace/workspace.ts";
export type { WorkspaceSource } from "./runtime/workspace/workspace-source.ts";
export { builtinToolPrompts } from "./tools/builtin-tool-prompts.ts";
export { createRecallIndexedTool } from "./tools/recall-indexed.ts";
export { createBuiltinTools } from "./tools/builtin-tools.ts";

// Skills and memory
export { SkillCatalog } from "./runtime/context/skills/skill-catalog.ts";
export { SkillSet, skillsFromTexts } from "./runtime/context/skills/skill-set.ts";
export { LocalMemoryIndex } from "./runtime/context/memory/local-memory-index.ts";
export type { MemoryIndex } from "./runtime/context/memory/memory-index.ts";
export { recallMemories } from "./runtime/context/memory/recall-memories.ts";
export { createLoadSkillTool } from "./tools/load-skill.ts";
export { createDiscoverSkillsTool } from "./tools/discover-skills.ts";
export { createRememberTool } from "./tools/remember.ts";
export { createSearchMemoryTool } from "./tools/search-memory.ts";

// Sessions
export type { AgentSession, Commit, SessionManager } from "./runtime/session/agent-session.ts";
export { MemorySession, MemorySessionManager } from "./runtime/session/memory-session.ts";

// Protocol
export type { AgentEvent } from "./runtime/protocol/events.ts";
export type { DurableEvent } from "./runtime/protocol/durable-events.ts";
export type { LiveEvent } from "./runtime/protocol/live-events.ts";
export { foldSession } from "./runtime/protocol/session-fold.ts";
export { toModelMessages } from "./runtime/protocol/model-messages.ts";
export { checkLog } from "./runtime/protocol/log-grammar.ts";
export { checkStream } from "./runtime/protocol/stream-grammar.ts";
export { DEFAULT_LIMITS } from "./runtime/protocol/limits.ts";
export { LightAgentError } from "./runtime/protocol/errors.ts";
