import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { proportionalMiB } from "../apiserver/subject.ts";

/** Of Kubernetes' own programs, without those of the operator. */
const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Memory (MiB) of each program of a control plane among these processes. @throws when one does not run */
export function memoryByProgram(processes: readonly number[]): readonly (readonly [string, number])[] {
  return PROGRAMS.map((program) => {
    const pid = processes.find((each) => programOf(each) === program);
    if (pid === undefined) throw new Error(`${program} does not run`);
    return [program, proportionalMiB([{ pid }])];
  });
}

function programOf(pid: number): string {
  try {
    return basename(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "");
  } catch {
    return "";
  }
}
