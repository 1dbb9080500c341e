import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { CallRequest, SessionStore } from "../../client/index.ts";
import type { ToolCall } from "../../src/runtime/protocol/durable-events.ts";
import { argumentsOf } from "../wording.ts";

interface RequestFormProps {
  readonly call: ToolCall;
  readonly request: CallRequest;
  /** The answer is on its way. */
  readonly deciding: boolean;
  readonly store: SessionStore;
}

/** What a person is asked about a call, answered in its place. */
export function RequestForm({ call, request, deciding, store }: RequestFormProps): VNode {
  return request.kind === "approval" ? (
    <ApprovalForm call={call} request={request} deciding={deciding} store={store} />
  ) : (
    <QuestionForm request={request} deciding={deciding} store={store} />
  );
}

type ApprovalProps = RequestFormProps & { readonly request: Extract<CallRequest, { kind: "approval" }> };

function ApprovalForm({ call, request, deciding, store }: ApprovalProps): VNode {
  const [edited, setEdited] = useState<string | null>(null);
  const [remember, setRemember] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const decide = (decision: "allow" | "deny"): void => {
    const args = edited === null || decision === "deny" ? undefined : argumentsOf(edited);
    if (args === null) return setWrong("These arguments are not a JSON object.");
    setWrong(null);
    void store.decide(request.approvalId, {
      decision,
      ...(args === undefined ? {} : { args }),
      ...(remember ? { remember } : {}),
    });
  };
  return (
    <form
      class="request"
      aria-label={`May ${call.name} run?`}
      onSubmit={(event) => {
        event.preventDefault();
        decide("allow");
      }}
    >
      <p>
        <strong>May {call.name} run?</strong> {request.reason}
      </p>
      {edited !== null && (
        <textarea
          aria-label="Arguments as JSON"
          aria-invalid={wrong !== null}
          rows={Math.min(12, edited.split("\n").length + 1)}
          value={edited}
          onInput={({ currentTarget }) => setEdited(currentTarget.value)}
        />
      )}
      {wrong && (
        <p class="failure" role="alert">
          {wrong}
        </p>
      )}
      <div class="choices">
        <button type="submit" class="primary" disabled={deciding}>
          {edited === null ? "Allow" : "Allow with these arguments"}
        </button>
        <button type="button" disabled={deciding} onClick={() => decide("deny")}>
          Deny
        </button>
        {edited === null && (
          <button
            type="button"
            class="quiet"
            disabled={deciding}
            onClick={() => setEdited(JSON.stringify(call.args, null, 2))}
          >
            Edit arguments
          </button>
        )}
      </div>
      <label>
        <input
          type="checkbox"
          checked={remember}
          onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
        />
        When allowed, do not ask again for {call.name} in this session
      </label>
      <p class="hint">Open until {new Date(request.expiresAt).toLocaleString()}; then it is denied.</p>
    </form>
  );
}

type QuestionProps = Omit<RequestFormProps, "call"> & {
  readonly request: Extract<CallRequest, { kind: "question" }>;
};

function QuestionForm({ request, deciding, store }: QuestionProps): VNode {
  const { inputId, question, options, multiSelect } = request;
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [text, setText] = useState("");
  const toggle = (option: string): void => {
    if (!multiSelect) return setSelected([option]);
    setSelected(selected.includes(option) ? selected.filter((one) => one !== option) : [...selected, option]);
  };
  return (
    <form
      class="request"
      aria-label="A question for you"
      onSubmit={(event) => {
        event.preventDefault();
        void store.answer(inputId, {
          ...(text.trim() === "" ? {} : { text }),
          ...(selected.length === 0 ? {} : { selected: [...selected] }),
        });
      }}
    >
      <p>
        <strong>{question}</strong>
      </p>
      {options.length > 0 && (
        <fieldset>
          <legend class="hint">{multiSelect ? "Choose any" : "Choose one"}, or write an answer</legend>
          {options.map((option) => (
            <label key={option}>
              <input
                type={multiSelect ? "checkbox" : "radio"}
                name={inputId}
                checked={selected.includes(option)}
                onChange={() => toggle(option)}
              />
              {option}
            </label>
          ))}
        </fieldset>
      )}
      <textarea
        aria-label="Your answer"
        placeholder={options.length > 0 ? "Or in your words" : "Your answer"}
        rows={2}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="choices">
        <button
          type="submit"
          class="primary"
          disabled={deciding || (text.trim() === "" && selected.length === 0)}
        >
          Answer
        </button>
      </div>
    </form>
  );
}
