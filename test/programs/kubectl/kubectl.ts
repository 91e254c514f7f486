import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { execute, launch, type RunningProgram } from "../run.ts";
import type { Server } from "../servers.ts";

/** One kubectl, on one server, in a namespace of its own. */
export interface Kubectl {
  readonly namespace: string;
  /** 34 for kubectl 1.34. */
  readonly minor: number;
  /** A folder of its own. */
  readonly dir: string;
  /** What it printed on standard output; throws with what it said when it fails. */
  run(...args: readonly string[]): Promise<string>;
  /** With something on standard input. */
  feed(input: unknown, ...args: readonly string[]): Promise<string>;
  /** Both streams of a run that must fail. */
  fails(...args: readonly string[]): Promise<string>;
  failsFed(input: unknown, ...args: readonly string[]): Promise<string>;
  /** Continues next to the test until it ends by itself or is stopped. */
  start(...args: readonly string[]): RunningProgram;
}

export interface KubectlCase {
  readonly name: string;
  /** It waits for something that kube-controller-manager does where the API server is kube-apiserver. */
  readonly controllers?: true;
  /** The oldest minor that has the command. */
  readonly since?: number;
  readonly run: (k: Kubectl) => Promise<void>;
}

export function kubectlOn(
  server: Pick<Server, "dir" | "kubeconfig">,
  file: string,
  use: { namespace: string; minor: number },
): Kubectl {
  const dir = join(server.dir, use.namespace);
  mkdirSync(dir, { recursive: true });
  const env = { HOME: dir, KUBECONFIG: server.kubeconfig, KUBECACHEDIR: join(server.dir, `cache-${use.minor}`) };
  const all = (args: readonly string[]): string[] =>
    use.namespace === "" ? [...args] : ["--namespace", use.namespace, ...args];
  const call = async (input: unknown, args: readonly string[], wanted: boolean): Promise<string> => {
    const text = input === undefined ? "" : typeof input === "string" ? input : JSON.stringify(input);
    const { code, stdout, stderr } = await execute(file, all(args), { env, input: text });
    if ((code === 0) !== wanted) {
      throw new Error(`kubectl ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    }
    return wanted ? stdout : stdout + stderr;
  };
  return {
    ...use,
    dir,
    run: (...args) => call(undefined, args, true),
    feed: (input, ...args) => call(input, args, true),
    fails: (...args) => call(undefined, args, false),
    failsFed: (input, ...args) => call(input, args, false),
    start: (...args) => launch(file, all(args), { env }),
  };
}
