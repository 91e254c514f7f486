import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const SCOPE = new URL("request-scope.ts", import.meta.url).href;

/** Runs a program with the guard in place. */
function run(program: string): { status: number | null; stdout: string; stderr: string } {
  const head = `import { guardRequests, inRequest } from ${JSON.stringify(SCOPE)};
    guardRequests();
    const failed = (error) => console.log("failed", error.message);
    process.on("exit", () => console.log("end"));`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", head + program], { encoding: "utf8" });
}

test("an exception or rejection that a request caused does not end the process", () => {
  const { status, stdout } = run(`inRequest(failed, () => {
    (async () => { await null; throw new Error("rejected"); })();
    setImmediate(() => { throw new Error("thrown"); });
  });
  setTimeout(() => console.log("still here"), 50);`);
  expect(stdout.split("\n").toSorted()).toEqual(
    ["", "end", "failed rejected", "failed thrown", "still here"].toSorted(),
  );
  expect(status).toBe(0);
});

test.each([
  ["exception", "setImmediate(() => { throw new Error('ours'); });"],
  ["rejection", "void Promise.reject(new Error('ours'));"],
])("an %s outside of requests ends the process", (_kind, program) => {
  const { status, stdout, stderr } = run(`${program} setTimeout(() => console.log("still here"), 5000);`);
  expect(stdout).not.toContain("still here");
  expect(stderr).toContain("ours");
  expect(status).not.toBe(0);
});
