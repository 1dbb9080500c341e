/** What `npm start` has to know of the arguments that it hands on to `wrangler dev`. */
export interface DevArguments {
  /** Folder of the persisted state, when named. */
  readonly persistTo: string | undefined;
  /** Variables given by `--var NAME:value`. */
  readonly vars: ReadonlyMap<string, string>;
}

/** Variables of the environment that reach the Worker. */
const MODEL_VARIABLES = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_DIALECT"];

/** Reads `--persist-to` and `--var` in the forms that wrangler takes: `--name value`, `--name=value`, `--var A:1 B:2`. */
export function readDevArguments(args: readonly string[]): DevArguments {
  let persistTo: string | undefined;
  const vars = new Map<string, string>();
  let option = "";
  for (const arg of args) {
    let value: string | undefined = arg;
    if (arg.startsWith("-")) {
      const [, name = "", inline] = /^-+([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
      option = name;
      value = inline;
    }
    if (value === undefined) continue;
    if (option === "persist-to" || option === "persistTo") persistTo = value;
    if (option === "var") {
      const colon = value.indexOf(":");
      if (colon > 0) vars.set(value.slice(0, colon), value.slice(colon + 1));
    }
  }
  return { persistTo, vars };
}

/** The `--var` arguments that carry the model's settings from the environment, unless the caller gave them. */
export function modelArguments(
  environment: Readonly<Record<string, string | undefined>>,
  given: ReadonlyMap<string, string>,
): string[] {
  return MODEL_VARIABLES.flatMap((name) => {
    const value = environment[name];
    return value && !given.has(name) ? ["--var", `${name}:${value}`] : [];
  });
}
