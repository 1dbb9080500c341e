import { createContextBuilder } from "../context/context-builder.ts";
import type { BuiltContext } from "../context/context-builder.ts";
import type { PromptSection } from "../context/context-builder.ts";
import { skillIndex } from "../context/skills/skill-index.ts";
import type { SkillSet } from "../context/skills/skill-set.ts";
import type { SkillProblem, SkillSource } from "../context/skills/skill.ts";
import type { Limits } from "../protocol/limits.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { ContextWindow } from "./context-window.ts";
import type { SessionLog } from "./session-log.ts";

/** How a problem's source is called. */
const SOURCES: Readonly<Record<SkillSource, string>> = {
  agent: "the agent's definition",
  library: "the library",
  workspace: "the workspace",
};

/**
 * The model's input at each step of one run of a turn. The skills are asked for once, before the first call; what is
 * wrong with them is told then and keeps nothing from going on.
 */
export function turnContext(
  {
    prompts = [],
    skills,
  }: { readonly prompts?: readonly PromptSection[]; readonly skills?: () => MaybePromise<SkillSet> },
  limits: Limits,
  log: SessionLog,
  window: Pick<ContextWindow, "indexWithin">,
): () => Promise<BuiltContext> {
  let index: Promise<string | null> | undefined;
  const readSkills = async (): Promise<string | null> => {
    const set = await skills?.();
    if (!set) return null;
    for (const problem of set.problems) log.emit(diagnosticOf(problem, log.fold));
    return skillIndex(set.catalog.entries, limits.skillIndexChars);
  };
  return async () => {
    index ??= readSkills();
    return createContextBuilder(prompts, await index).build(await log.history(), window.indexWithin);
  };
}

function diagnosticOf(
  { level, source, skill, message }: SkillProblem,
  { turn, step }: SessionLog["fold"],
): LiveEvent {
  const text = `The skill ${skill} of ${SOURCES[source]}: ${message}`;
  return {
    type: "diagnostic",
    turn,
    step,
    level,
    code: "invalid_skill",
    message: text,
    data: { skill, source },
  };
}
