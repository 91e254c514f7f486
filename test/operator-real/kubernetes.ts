/** A managed Kubernetes on the rig's cloud: `causeway up --cloud` next to its node, `causeway machine-agent` on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, type Started } from "../support/processes.ts";
import { administrator, KEYSTONE, type Account } from "./client.ts";
import type { Figures } from "./figures.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { PROJECT } from "./service-cloud.ts";

const CLOUD = "rig";
const PROGRAM = join(root, "packages/causeway/src/start.js");
const READY = /demo ready: 1 control plane, (\d+) nodes, load balancer [\d.]+, (\d+) OpenStack calls, ([\d.]+) s/;

export interface Kubernetes {
  readonly figures: Figures;
  nodes(): Promise<{ readonly ready: boolean; readonly providerID: string }[]>;
  /** Deletes the cluster, and waits until it is gone. */
  remove(): Promise<void>;
  stop(): Promise<void>;
}

export async function bringUpKubernetes(rig: Rig): Promise<Kubernetes> {
  const dir = join(rig.dir, "kubernetes");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const clouds = join(dir, "clouds.yaml");
  writeFileSync(
    clouds,
    JSON.stringify({ clouds: { [CLOUD]: entry(PROJECT), [`${CLOUD}-admin`]: entry(administrator(rig)) } }),
    {
      mode: 0o600,
    },
  );
  const env = { OS_CLIENT_CONFIG_FILE: clouds };
  const [machine] = rig.machines;
  // Namespaces that appear later are seen below a folder whose mounts are shared.
  const share =
    "mkdir -p /run/netns; mountpoint -q /run/netns || mount --bind /run/netns /run/netns; mount --make-shared /run/netns";
  await machine!.run("sh", "-c", share);
  const words = ["machine-agent", "--cloud", CLOUD, "--state", join(dir, "machines")];
  const agent = machine!.start("env", `OS_CLIENT_CONFIG_FILE=${clouds}`, process.execPath, PROGRAM, ...words);
  const system: Started = rig.startCauseway(["up", "--demo", "--cloud", CLOUD, "--state", join(dir, "state")], env);
  const stop = async () => {
    await system.stop();
    await agent.stop();
  };
  const ask = (cluster: "management" | "demo", ...words: readonly string[]) =>
    rig.inNetwork("kubectl", "--kubeconfig", join(dir, "state", `${cluster}.kubeconfig`), ...words);
  try {
    const output = await system.until(READY, TIMEOUT);
    const [line, nodes, calls, seconds] = READY.exec(output) ?? [];
    console.log(line);
    return {
      figures: { nodes: Number(nodes), openstackCalls: Number(calls), secondsToReady: Number(seconds) },
      async nodes() {
        const { items } = JSON.parse(await ask("demo", "get", "nodes", "-o", "json")) as NodeList;
        return items.map(({ spec, status }) => ({
          providerID: spec.providerID ?? "",
          ready: status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
        }));
      },
      async remove() {
        await ask("management", "delete", "cluster", "demo", "--timeout=1800s");
      },
      stop,
    };
  } catch (error) {
    console.log(agent.output().slice(-4000));
    await stop();
    throw error;
  }
}

interface NodeList {
  readonly items: readonly {
    readonly spec: { readonly providerID?: string };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

/** Public endpoints have names that need not resolve inside the cluster. */
const entry = ({ user, project, password }: Account) => ({
  auth: {
    auth_url: KEYSTONE,
    username: user,
    password,
    project_name: project,
    user_domain_name: "Default",
    project_domain_name: "Default",
  },
  region_name: "RegionOne",
  interface: "internal",
});
