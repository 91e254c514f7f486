import { spawnSync } from "node:child_process";
import { expect, test, vi } from "vitest";
import { program } from "../../program.ts";
import { completion } from "./action.ts";

function scriptOf(shell: "bash" | "zsh" | "fish"): string {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    completion(shell, program(new AbortController().signal));
    return String(write.mock.calls[0]?.[0]);
  } finally {
    write.mockRestore();
  }
}

/** What bash offers after these words. */
function offered(...words: readonly string[]): string[] {
  const typed = ["causeway", ...words].map((word) => `'${word}'`).join(" ");
  const ask = `${scriptOf("bash")}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _causeway; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", ask], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim().split(" ");
}

test("bash completes commands, components of run, and options", () => {
  expect(offered("")).toEqual(expect.arrayContaining(["up", "cloud", "run", "version", "completion"]));
  expect(offered("")).not.toContain("machine");
  expect(offered("sw")).toEqual(["sweep"]);
  expect(offered("run", "cloud-")).toEqual(["cloud-controller-manager"]);
  expect(offered("sweep", "--dry")).toEqual(["--dry-run"]);
  expect(offered("plan", "service", "--detailed")).toEqual(["--detailed-exitcode"]);
});

test("zsh and fish get every command of the program", () => {
  for (const shell of ["zsh", "fish"] as const) {
    const script = scriptOf(shell);
    for (const word of ["sweep", "cloud-controller-manager", "doctor"]) expect(script).toContain(word);
  }
});
