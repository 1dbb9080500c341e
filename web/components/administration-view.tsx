import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ApiKey } from "../../client/index.ts";
import { usageByModel } from "../administration.ts";
import type { ShownAgent } from "../administration.ts";
import { costText } from "../wording.ts";
import type { AdministrationProps } from "./administration-dialog.tsx";

/** The part that is looked at. */
export function AdministrationView(props: AdministrationProps): VNode {
  switch (props.state.part) {
    case "agents":
      return <Agents {...props} />;
    case "keys":
      return <Keys {...props} />;
    case "usage":
      return <Usage {...props} />;
  }
}

function Waiting({ problem }: { readonly problem: unknown }): VNode | null {
  return problem ? null : <p class="hint">Loading…</p>;
}

function Agents({ state, store, onStart }: AdministrationProps): VNode | null {
  const { agents, agent, busy, problem } = state;
  if (!agents) return <Waiting problem={problem} />;
  return (
    <div class="agents">
      <ul aria-label="Agents">
        {agents.map(({ id, version, name }) => (
          <li key={id}>
            <button
              type="button"
              class="quiet"
              aria-pressed={agent?.id === id}
              onClick={() => void store.showAgent(id)}
            >
              {name ?? id} <small>version {version}</small>
            </button>
          </li>
        ))}
      </ul>
      <NewName
        label="Id of a new agent"
        action="New agent"
        busy={busy}
        onName={(id) => void store.createAgent(id)}
      />
      {agent && <AgentEditor agent={agent} busy={busy} store={store} onStart={onStart} />}
    </div>
  );
}

interface AgentEditorProps extends Pick<AdministrationProps, "store" | "onStart"> {
  readonly agent: ShownAgent;
  readonly busy: boolean;
}

function AgentEditor({ agent, busy, store, onStart }: AgentEditorProps): VNode {
  const newest = agent.versions[0]?.version;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void store.saveAgent();
      }}
    >
      <h3>{agent.id}</h3>
      <label>
        Version
        <select
          value={agent.version}
          onChange={({ currentTarget }) => store.showVersion(Number(currentTarget.value))}
        >
          {agent.versions.map(({ version, createdAt }) => (
            <option key={version} value={version}>
              {version}
              {version === newest ? " (newest)" : ""} of {new Date(createdAt).toLocaleString()}
            </option>
          ))}
        </select>
      </label>
      <label>
        Definition, as JSON
        <textarea
          class="code"
          rows={14}
          spellcheck={false}
          value={agent.text}
          onInput={({ currentTarget }) => store.edit(currentTarget.value)}
        />
      </label>
      <div class="choices">
        <button type="submit" class="primary" disabled={busy}>
          Store as a new version
        </button>
        <button type="button" onClick={() => onStart(agent.id)}>
          New session with {agent.id}
        </button>
      </div>
    </form>
  );
}

function Keys({ state, store }: AdministrationProps): VNode | null {
  const { keys, created, busy, problem } = state;
  const [role, setRole] = useState<ApiKey["role"]>("member");
  const [asked, setAsked] = useState<string | null>(null);
  if (!keys) return <Waiting problem={problem} />;
  return (
    <div class="keys">
      {created && (
        <p class="created" role="alert">
          The key <strong>{created.name}</strong> is shown this once: <code>{created.apiKey}</code>
          <button
            type="button"
            class="quiet"
            onClick={() => void navigator.clipboard.writeText(created.apiKey)}
          >
            Copy
          </button>
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col">Made</th>
            <th scope="col">
              <span class="hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">{key.name || key.id}</th>
              <td>{key.role}</td>
              <td>{new Date(key.createdAt).toLocaleDateString()}</td>
              <td>
                {asked === key.id ? (
                  <button
                    type="button"
                    class="stop"
                    disabled={busy}
                    onClick={() => void store.revokeKey(key)}
                  >
                    Revoke {key.name || key.id} for good
                  </button>
                ) : (
                  <button type="button" class="quiet" onClick={() => setAsked(key.id)}>
                    Revoke…
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <label>
        Role of a new key
        <select value={role} onChange={({ currentTarget }) => setRole(currentTarget.value as ApiKey["role"])}>
          <option value="viewer">viewer: reads</option>
          <option value="member">member: prompts and decides</option>
          <option value="admin">admin: everything of the tenant</option>
        </select>
      </label>
      <NewName
        label="Name of a new key"
        action="New key"
        busy={busy}
        onName={(name) => void store.createKey(name, role)}
      />
    </div>
  );
}

function Usage({ state: { usage, problem } }: AdministrationProps): VNode | null {
  if (!usage) return <Waiting problem={problem} />;
  const models = usageByModel(usage);
  if (models.length === 0) return <p class="hint">Nothing was used in the last 30 days.</p>;
  return (
    <table class="usage">
      <caption>Tokens of the last 30 days, by model. A turn counts when it has ended.</caption>
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col">Input</th>
          <th scope="col">Cached</th>
          <th scope="col">Output</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {models.map(({ model, usage: { input, cachedInput, output }, cost }) => (
          <tr key={model}>
            <th scope="row">{model}</th>
            <td>{input.toLocaleString()}</td>
            <td>{cachedInput.toLocaleString()}</td>
            <td>{output.toLocaleString()}</td>
            <td>{cost > 0 ? costText(cost) : "no price"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface NewNameProps {
  readonly label: string;
  readonly action: string;
  readonly busy: boolean;
  readonly onName: (name: string) => void;
}

/** One name, and what is made with it. */
function NewName({ label, action, busy, onName }: NewNameProps): VNode {
  const [name, setName] = useState("");
  return (
    <form
      class="new-name"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() === "") return;
        onName(name.trim());
        setName("");
      }}
    >
      <input
        type="text"
        aria-label={label}
        placeholder={label}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit" disabled={busy || name.trim() === ""}>
        {action}
      </button>
    </form>
  );
}
