import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Caller } from "./session-api.ts";
import type { SessionKeeper } from "./session-keeper.ts";
import type { CommandFrame } from "./sockets.ts";

/** Carries out what a socket's frame asks for, as REST would. @throws LightAgentError `forbidden`, and as REST */
export async function runCommand(
  frame: CommandFrame,
  caller: Caller,
  keeper: Pick<SessionKeeper, "enter" | "prompt" | "restore" | "compact">,
): Promise<unknown> {
  const needed = frame.type === "approve" || frame.type === "answer" ? "decide" : "prompt";
  if (!caller.scopes.includes(needed)) {
    throw new LightAgentError("forbidden", `The credential has no scope \`${needed}\`.`);
  }
  const { session } = await keeper.enter();
  const by = caller.principal;
  switch (frame.type) {
    case "prompt": {
      const { id: _id, type: _type, ...body } = frame;
      return keeper.prompt(body, by);
    }
    case "interrupt": {
      const { id: _id, type: _type, ...body } = frame;
      return session.interrupt(body, by);
    }
    case "approve": {
      const { id: _id, type: _type, approvalId, ...body } = frame;
      return session.decide(approvalId, body, by);
    }
    case "answer": {
      const { id: _id, type: _type, inputId, ...body } = frame;
      return session.answer(inputId, body, by);
    }
    case "restore": {
      const { id: _id, type: _type, ...body } = frame;
      return keeper.restore(body, by);
    }
    case "compact": {
      const { id: _id, type: _type, ...body } = frame;
      return keeper.compact(body);
    }
    case "unqueue":
      await session.agent.withdraw(frame.promptId, by);
      return null;
  }
}
