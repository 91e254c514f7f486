import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What a test that failed left. */
export function unmountBelow(dir: string): void {
  const paths = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  for (const path of paths.filter((each) => each.startsWith(`${dir}/`)).toReversed()) execFileSync("umount", [path]);
}
