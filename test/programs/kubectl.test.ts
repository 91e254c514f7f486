/** Stock kubectl of several minors on our server, and the one of kube-apiserver's own release on both. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, test } from "vitest";
import { kubectlCases } from "./kubectl/all.ts";
import { kubectlOn } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { servers, startServer, type Server } from "./servers.ts";

/** Next to the newest: older ones that the machine has, the oldest of all and those within reach of a minor's skew. */
const OLDER = [33, 32, 27];

interface Candidate {
  readonly file: string;
  readonly minor: number;
}

function candidates(): Candidate[] {
  return programs().kubectls.map((file) => {
    const said = spawnSync(file, ["version", "--client", "-o", "json"], { encoding: "utf8" });
    return { file, minor: Number(/"minor": "(\d+)/.exec(said.stdout)?.[1]) };
  });
}

const found = candidates();
const [newest] = found;

for (const { name, missing } of servers())
  describe(`on ${name}`, () => {
    if (missing !== undefined) test.skip(`kubectl (${missing})`);
    else if (newest === undefined) test.skip("kubectl (none could be built or found)");
    else {
      useKubectl(name, newest);
      if (name === "causeway") OLDER.forEach((minor) => useOlder(minor));
    }
  });

function useOlder(minor: number): void {
  const older = found.find((k) => k.minor === minor);
  if (older === undefined) test.skip(`kubectl 1.${minor} (this machine has no kubectl.1.${minor} next to its kubectl)`);
  else useKubectl("causeway", older);
}

function useKubectl(name: Server["name"], { file, minor }: Candidate): void {
  describe(`kubectl 1.${minor}`, () => {
    let server: Server | undefined;
    beforeAll(async () => {
      server = await startServer(name);
    });
    afterAll(() => server?.close());

    kubectlCases.forEach((one, index) => {
      if (one.since !== undefined && minor < one.since) return;
      if (one.controllers && name === "kube-apiserver")
        test.skip(`${one.name} (kube-controller-manager does it, and none runs here)`);
      else
        test(one.name, async () => {
          if (server === undefined) throw new Error("the server did not start");
          const namespace = `k${index}`;
          const k = kubectlOn(server, file, { namespace, minor });
          await execute(file, ["--kubeconfig", server.kubeconfig, "create", "namespace", namespace]);
          await k.feed({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } }, "apply", "-f", "-");
          await one.run(k);
        });
    });
  });
}
