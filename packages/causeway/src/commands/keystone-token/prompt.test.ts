import { expect, test } from "vitest";
import { askMissing, missingVariables, ownTerminal } from "./prompt.ts";

const whole = {
  OS_AUTH_URL: "https://keystone/v3",
  OS_DOMAIN_NAME: "Default",
  OS_USERNAME: "demo",
  OS_PROJECT_NAME: "shop",
  OS_PASSWORD: "secret",
};

test("keystone-token asks for the parts of a password that are missing, in upstream's order, and hides the password", async () => {
  const asked: string[] = [];
  const terminal = {
    ask: async (question: string) => (asked.push(question), " answer "),
    askHidden: async (question: string) => (asked.push(`hidden ${question}`), " kept as it is "),
  };
  expect(await askMissing({ OS_USERNAME: "demo" }, terminal)).toEqual({
    OS_AUTH_URL: "answer",
    OS_DOMAIN_NAME: "answer",
    OS_PROJECT_NAME: "answer",
    OS_PASSWORD: " kept as it is ",
  });
  expect(asked).toEqual([
    "Please enter Keystone Auth URL: ",
    "Please enter domain name: ",
    "Please enter project name: ",
    "hidden Please enter password: ",
  ]);
});

test.each<[string, Record<string, string | undefined>, string[]]>([
  ["nothing of a whole password", whole, []],
  ["the empty ones", { ...whole, OS_PASSWORD: "" }, ["OS_PASSWORD"]],
  ["no domain of a user by id", { ...whole, OS_USERNAME: undefined, OS_DOMAIN_NAME: undefined, OS_USER_ID: "u" }, []],
  ["no project name where a project id is given", { ...whole, OS_PROJECT_NAME: undefined, OS_PROJECT_ID: "p" }, []],
  ["the address alone for an application credential", { OS_APPLICATION_CREDENTIAL_SECRET: "s" }, ["OS_AUTH_URL"]],
  ["the address alone for a token", { OS_TOKEN: "t" }, ["OS_AUTH_URL"]],
])("keystone-token asks for %s", (_, variables, names) => {
  expect(missingVariables(variables).map(({ variable }) => variable)).toEqual(names);
});

test("keystone-token asks no person without a terminal, or where kubectl forbids it", () => {
  const before = process.stdin.isTTY;
  try {
    process.stdin.isTTY = false;
    expect(ownTerminal(undefined)).toBeUndefined();
    process.stdin.isTTY = true;
    expect(ownTerminal(undefined)).toBeDefined();
    expect(ownTerminal(JSON.stringify({ spec: { interactive: true } }))).toBeDefined();
    expect(ownTerminal(JSON.stringify({ spec: { interactive: false } }))).toBeUndefined();
    expect(ownTerminal("{")).toBeUndefined();
  } finally {
    process.stdin.isTTY = before;
  }
});
