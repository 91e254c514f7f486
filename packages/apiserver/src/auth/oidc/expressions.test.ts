import { describe, expect, test } from "vitest";
import { compileExpression } from "./expressions.ts";

describe("an expression about claims", () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    ["claims.n + 1", { n: 1 }, 2n],
    ["claims.n", { n: 1.5 }, 1.5],
    ["claims.n", { n: 2 ** 60 }, 2 ** 60],
    ["claims.list[0] + 1", { list: [1] }, 2n],
    ["claims.list.size()", { list: ["a", "b"] }, 2n],
    ["claims.a.b + 1", { a: { b: 1 } }, 2n],
    ["claims['x-y']", { "x-y": "v" }, "v"],
    ["claims.x__dash__y", { "x-y": "v" }, "v"],
    ["claims.size()", { plain: 1, other: 2 }, 2n],
    ["claims.?n.orValue(3)", {}, 3n],
    ["[claims.n, 'a'].size()", { n: 1 }, 2n],
    ["claims.s.split(',').join('-')", { s: "a,b" }, "a-b"],
    ["claims.s.lowerAscii()", { s: "A" }, "a"],
    ["ip(claims.s).family()", { s: "10.0.0.1" }, 4n],
    ["quantity(claims.s).isInteger()", { s: "1Ki" }, true],
    ["[1, 2].sum()", {}, 3n],
  ])("%s of %j", (source, claims, expected) => {
    expect(compileExpression("claims", source)(claims)).toEqual(expected);
  });

  test.each([["claims +"], ["user.name"], ["1 + 'a'"]])("%s does not compile", (source) => {
    expect(() => compileExpression("claims", source)).toThrow();
  });

  test("may be about the user", () => {
    expect(compileExpression("user", "user.username == 'a'")({ username: "a" })).toBe(true);
  });
});
