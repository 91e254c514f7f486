import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shownText } from "./shown-text.ts";

const SECRET = "q7Vt/x=9 Zk2pL0a";

describe("a message of a pod's program in a status", () => {
  test.each([
    ["is one line", "Traceback:\n  File x\r\n\tboom\n", "Traceback: File x boom"],
    ["moves no terminal's cursor", "\u001B[2Jno store\u0007\u009B1A", "[2Jno store 1A"],
    ["turns no text around", "a\u202Egnp.exe\u2066b", "a gnp.exe b"],
    ["is whole characters", "no \uD800store", "no \uFFFDstore"],
    ["has no secret", `login of glance with ${SECRET} failed`, "login of glance with [redacted] failed"],
    ["has no secret as part of a URL", `?p=${encodeURIComponent(SECRET)}&q`, "?p=[redacted]&q"],
    ["has no secret in base64", `Basic ${Buffer.from(SECRET).toString("base64")}`, "Basic [redacted]"],
    [
      "has no password of a URL",
      "pull https://bob:hunter2@registry.example/x: 403",
      "pull https://[redacted]@registry.example/x: 403",
    ],
    [
      "has the addresses of images",
      "ErrImagePull: registry.example/nova@sha256:0a",
      "ErrImagePull: registry.example/nova@sha256:0a",
    ],
  ])("%s", (_, said, shown) => {
    expect(shownText(said, [SECRET])).toBe(shown);
  });

  test("is at most 400 characters, and none of a secret that the cut would divide", () => {
    expect(shownText("x".repeat(400))).toBe("x".repeat(400));
    expect(shownText("x".repeat(401))).toBe(`${"x".repeat(399)}…`);
    expect(shownText(`${"x".repeat(395)}${SECRET}`, [SECRET])).toBe(`${"x".repeat(395)}[red…`);
    expect(shownText(`${"x".repeat(398)}😀😀`)).toBe(`${"x".repeat(398)}…`);
  });

  test("has no secret and no control character, whatever is around them", () => {
    const around = fc.string({ unit: "binary", maxLength: 600 });
    fc.assert(
      fc.property(around, around, (before, after) => {
        const shown = shownText(`${before}${SECRET}${after}`, [SECRET]);
        expect(shown).not.toContain(SECRET);
        expect(shown.length).toBeLessThanOrEqual(400);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 50 },
    );
  });
});
