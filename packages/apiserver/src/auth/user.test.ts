import { expect, test } from "vitest";
import { ANONYMOUS, authenticated, SYSTEM } from "../contract/user.ts";

test("a request without credentials is anonymous, the server's own controllers may do anything", () => {
  expect(ANONYMOUS).toEqual({ name: "system:anonymous", groups: ["system:unauthenticated"] });
  expect(SYSTEM).toEqual({ name: "system:apiserver", groups: ["system:masters", "system:authenticated"] });
});

test("a user with credentials is once in the group of all who have any", () => {
  const user = { name: "jane", uid: "u", groups: ["a"] };
  const known = { ...user, groups: ["a", "system:authenticated"] };
  expect(authenticated(user)).toEqual(known);
  expect(authenticated(known)).toBe(known);
});
