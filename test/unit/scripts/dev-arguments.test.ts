import { expect, it } from "vitest";
import { modelArguments, readDevArguments } from "../../../scripts/dev-arguments.ts";

it.each([
  [["--var", "A:1", "B:2", "--port", "3"]],
  [["--var=A:1", "--var=B:2"]],
  [["--var", "A:1", "--ip", "x", "--var", "B:2"]],
])("[START-3] reads the variables of %j", (args) => {
  expect([...readDevArguments(args).vars]).toEqual([
    ["A", "1"],
    ["B", "2"],
  ]);
});

it("[START-3] a value may hold colons and equals signs", () => {
  const { vars } = readDevArguments(["--var", "URL:http://h:1/?a=b", "--var=KEY:a=b:c"]);
  expect(Object.fromEntries(vars)).toEqual({ URL: "http://h:1/?a=b", KEY: "a=b:c" });
});

it.each([
  [["--persist-to", "/tmp/x"], "/tmp/x"],
  [["--persist-to=/tmp/x", "--port", "1"], "/tmp/x"],
  [["--persistTo", "/tmp/x"], "/tmp/x"],
  [["--port", "1"], undefined],
])("[START-3] reads the folder of the state from %j", (args, folder) => {
  expect(readDevArguments(args).persistTo).toBe(folder);
});

it("[START-4] the model's settings of the environment become variables", () => {
  const environment = {
    OPENAI_API_KEY: "sk",
    OPENAI_BASE_URL: "http://h:1/v1",
    OPENAI_MODEL: "m",
    OPENAI_DIALECT: "responses",
    HOME: "/",
  };
  const variables = modelArguments(environment, new Map()).filter((argument) => argument !== "--var");
  expect(variables).toEqual([
    "OPENAI_API_KEY:sk",
    "OPENAI_BASE_URL:http://h:1/v1",
    "OPENAI_MODEL:m",
    "OPENAI_DIALECT:responses",
  ]);
});

it("[START-4] an empty setting counts as not set", () => {
  expect(modelArguments({ OPENAI_API_KEY: "" }, new Map())).toEqual([]);
});

it("[START-3] an argument wins over the environment", () => {
  const environment = { OPENAI_API_KEY: "sk", OPENAI_MODEL: "m" };
  expect(modelArguments(environment, new Map([["OPENAI_MODEL", "mine"]]))).toEqual([
    "--var",
    "OPENAI_API_KEY:sk",
  ]);
});
