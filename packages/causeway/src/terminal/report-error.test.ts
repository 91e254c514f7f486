import { stripVTControlCharacters } from "node:util";
import { CausewayError, InputError } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { exitStatusOf, renderError } from "./report-error.ts";

const render = (error: unknown) => stripVTControlCharacters(renderError(error));

describe("an error for a person", () => {
  test("says what happened, why, what to do, and the code to search for", () => {
    const error = new CausewayError("CLOUD_NOT_FOUND", "no cloud x", {
      hint: "Name another.",
      cause: new Error("read it"),
    });
    expect(render(error)).toBe(
      "error: no cloud x\n  because: read it\n  what to do: Name another.\n  code: CLOUD_NOT_FOUND\n",
    );
  });

  test("does not say the cause twice", () => {
    const error = new CausewayError("X", "it failed: no disk", { cause: new Error("no disk") });
    expect(render(error)).toBe("error: it failed: no disk\n  code: X\n");
  });

  test("of no kind is its message, without a stack", () => {
    expect(render(new TypeError("odd"))).toBe("error: odd\n");
    expect(render("text")).toBe("error: text\n");
  });
});

test.each([
  ["wrong input is status 2", new InputError("CLOUD_NOT_FOUND", "x"), 2],
  ["a failure is status 1", new CausewayError("DEMO_FAILED", "x"), 1],
  ["anything else is status 1", new Error("x"), 1],
])("the exit status of %s", (_, error, expected) => {
  expect(exitStatusOf(error)).toBe(expected);
});
