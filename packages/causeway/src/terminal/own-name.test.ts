import { expect, test } from "vitest";
import { ownName } from "./own-name.ts";

test.each([
  ["by npm, where its script started it", { npm_lifecycle_event: "causeway" }, "npm run causeway --"],
  ["by its name, where another script did", { npm_lifecycle_event: "start" }, "causeway"],
  ["by its name, where no script did", {}, "causeway"],
])("a person is advised to start the command %s", (_, env, name) => {
  expect(ownName(env)).toBe(name);
});
