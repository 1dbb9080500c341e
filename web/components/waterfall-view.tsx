import { Fragment } from "preact";
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Span } from "../../client/index.ts";
import { waterfallOf } from "../trace-rows.ts";
import type { TraceRow } from "../trace-rows.ts";
import { costText, durationText } from "../wording.ts";

/** The narrowest bar, in percent: what took no time is seen too. */
const NARROWEST = 0.6;

const KIND_TEXT = { turn: "", model: "Model", tool: "Tool", wait: "Waits for" } as const;

/** A turn as a waterfall: a table, so that it can be heard and walked through like one, with bars in it. */
export function WaterfallView({ spans }: { readonly spans: readonly Span[] }): VNode {
  const { rows, length } = useMemo(() => waterfallOf(spans), [spans]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  if (rows.length === 0) return <p class="hint">Nothing is known of this turn.</p>;
  const toggle = (id: string): void => {
    const changed = new Set(open);
    if (!changed.delete(id)) changed.add(id);
    setOpen(changed);
  };
  return (
    <>
      <p class="legend" aria-hidden="true">
        <span data-kind="model">Model</span>
        <span data-kind="tool">Tool</span>
        <span data-kind="wait">Waits for a person</span>
        <span data-kind="model" class="light">
          Until its first piece
        </span>
      </p>
      <div class="waterfall" tabIndex={0} role="region" aria-label="Waterfall">
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Duration</th>
              <th scope="col">Tokens in / out</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          {rows.map((row) => (
            <RowView
              key={row.id}
              row={row}
              length={length}
              open={open.has(row.id)}
              onToggle={() => toggle(row.id)}
            />
          ))}
        </table>
      </div>
    </>
  );
}

interface RowViewProps {
  readonly row: TraceRow;
  /** How many ms the whole width stands for. */
  readonly length: number;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function RowView({ row, length, open, onToggle }: RowViewProps): VNode {
  const { id, kind, label, start, duration, tokens, cost, failure, details } = row;
  return (
    <tbody data-kind={kind}>
      <tr>
        <th scope="row">
          <button
            type="button"
            class="name"
            aria-expanded={open}
            aria-controls={open ? `span-${id}` : undefined}
            onClick={onToggle}
          >
            {KIND_TEXT[kind] && <span class="hidden">{KIND_TEXT[kind]} </span>}
            {label}
            {failure && <span class="failure"> failed</span>}
          </button>
        </th>
        <td>{duration === null ? "going on" : durationText(duration)}</td>
        <td>{tokens && `${tokens.input.toLocaleString("en")} / ${tokens.output.toLocaleString("en")}`}</td>
        <td>{cost !== null && costText(cost)}</td>
      </tr>
      <tr>
        <td colSpan={4} class="track">
          <span class="hidden">Begins after {durationText(start)}</span>
          <Bar row={row} length={length} />
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={4} id={`span-${id}`}>
            <dl>
              <dt>Begins after</dt>
              <dd>{durationText(start)}</dd>
              {row.firstPiece !== null && (
                <>
                  <dt>First piece after</dt>
                  <dd>{durationText(row.firstPiece)}</dd>
                </>
              )}
              {details.map(({ name, value }) => (
                <Fragment key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </Fragment>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Bar({ row, length }: { readonly row: TraceRow; readonly length: number }): VNode {
  const { start, duration, firstPiece, failure } = row;
  const scale = length === 0 ? 0 : 100 / length;
  const left = Math.min(start * scale, 100 - NARROWEST);
  const width = Math.max(NARROWEST, duration === null ? 100 - left : Math.min(duration * scale, 100 - left));
  const waits = firstPiece === null || !duration ? 0 : Math.min(100, (firstPiece / duration) * 100);
  return (
    <div class="rail" aria-hidden="true">
      <div
        class={`bar${failure ? " failed" : ""}${duration === null ? " open" : ""}`}
        style={{ marginLeft: `${left}%`, width: `${width}%` }}
      >
        <div class="first" style={{ width: `${waits}%` }} />
      </div>
    </div>
  );
}
