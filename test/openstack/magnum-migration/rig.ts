/** A cluster of the devcloud's own Magnum, and Causeway next to it: all that its migration needs. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { openProject } from "../../nodes/project.ts";
import { freePort } from "../../support/free-ports.ts";
import { causeway, eventually, type Started } from "../../support/processes.ts";
import { requester, type Requester } from "./heat.ts";
import { openLeg, type Leg } from "./leg.ts";
import { machineShell } from "./machine.ts";
import { makeOldCluster, type OldCluster } from "./old-cluster.ts";

const TIMEOUT = 15 * 60_000;
const NAME = "web";
const CIDR = "10.94.6.0/24";

export interface Rig {
  readonly cloud: Cloud;
  readonly admin: Cloud;
  readonly ask: Requester;
  readonly old: OldCluster;
  readonly leg: Leg;
  readonly dir: string;
  /** The kubeconfig of the old cluster's administrator. */
  readonly source: string;
  /** Runs `causeway migrate magnum PHASE`; what it printed. Rejects with that when it ends with an error. */
  migrate(phase: string, ...more: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface RigOf {
  readonly programs: string;
  readonly version: string;
  readonly kubelet: string;
  readonly images: string;
}

export async function startRig({ programs, version, kubelet, images }: RigOf): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-migration-"));
  const entry = process.env["OS_CLOUD"] ?? "devcloud";
  const project = await openProject(entry, join(dir, "clouds.yaml"));
  const admin = connectCloud(loadCloudsYaml({ cloud: `${project.entry}-admin`, path: project.clouds }));
  const { cloud } = project;
  const ask = await requester(project.entry, project.clouds);
  const started: Started[] = [];
  const closing: (() => Promise<unknown>)[] = [() => project.close(), () => admin.close(), () => deleteCluster(ask)];
  const close = async (): Promise<void> => {
    for (const program of started.reverse()) await program.stop();
    for (const end of closing.reverse()) await end().catch((error: unknown) => console.error(error));
    if (process.env["CAUSEWAY_MIGRATION_KEEP"] === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept: ${dir}`);
  };
  const env = { OS_CLIENT_CONFIG_FILE: project.clouds };
  const start = (...args: string[]): Started => {
    const program = causeway(args, { env });
    started.push(program);
    return program;
  };
  try {
    const root = join(dir, "machines");
    let leg: Leg | undefined;
    const reach = async (network: { readonly id: string; readonly subnet: string }): Promise<void> => {
      const groups = await cloud.network.securityGroups.all({});
      const masters = groups.filter(({ name }) => name.includes("secgroup_kube_master")).map(({ id }) => id);
      const projectId = await cloud.projectId();
      leg = await openLeg(
        { cloud, admin },
        { projectId, networkId: network.id, subnetId: network.subnet, groups: masters },
      );
      const made = leg;
      closing.push(() => made.close());
    };
    const making = { cloud, ask, root, name: NAME, version, cidr: CIDR, kubelet, images, reach };
    const old = await makeOldCluster({ ...making, programs: join(programs, version) });
    closing.push(() => old.stop());
    if (leg === undefined) throw new Error("the masters were configured without their network");
    const folder = join(dir, "programs");
    mkdirSync(folder);
    symlinkSync(join(programs, version), join(folder, version));
    const management = join(dir, "state/management.kubeconfig");
    const runtime = ["--runtime", "process", "--programs", folder];
    const up = ["up", "--cloud", project.entry, "--state", join(dir, "state"), "--node-networks", CIDR];
    start(...up, ...runtime);
    await eventually(TIMEOUT, () => existsSync(management));
    const { authUrl, region } = loadCloudsYaml({ cloud: project.entry, path: project.clouds });
    const listen = `127.0.0.1:${await freePort()}`;
    const api = ["--kubeconfig", management, "--keystone-url", authUrl, "--listen", listen];
    start("run", "magnum-api", ...api, ...(region === undefined ? [] : ["--region", region]));
    const real = ["--kubelet", "real", "--kubelet-path", kubelet, "--images", images];
    start("machine-agent", "--cloud", project.entry, "--state", join(dir, "agent"), ...real);
    const source = join(dir, "source.kubeconfig");
    writeFileSync(source, old.kubeconfig, { mode: 0o600 });
    const base = ["--cloud", project.entry, "--kubeconfig", management];
    const more = ["--source-kubeconfig", source, "--peer-host", leg.address];
    const shell = ["--machine-shell", machineShell(dir, root)];
    return {
      cloud,
      admin,
      ask,
      old,
      leg,
      dir,
      source,
      async migrate(phase, ...given) {
        const own = phase === "discover" ? [] : [...more, ...shell];
        const program = causeway(["migrate", "magnum", phase, NAME, ...base, ...own, ...given], { env });
        const code = await program.ended;
        if (code !== 0) throw new Error(`${phase} ended with ${code}: ${program.output()}`);
        return program.output();
      },
      close,
    };
  } catch (error) {
    const said = started.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

/** Heat deletes what it has of the cluster still. */
async function deleteCluster(ask: Requester): Promise<void> {
  await ask("DELETE", "container-infra", `/clusters/${NAME}`).catch(() => {});
  await eventually(TIMEOUT, async () => {
    const { clusters } = (await ask("GET", "container-infra", "/clusters")) as {
      clusters: readonly { status: string }[];
    };
    return clusters.length === 0;
  });
  await ask("DELETE", "container-infra", `/clustertemplates/${NAME}`);
}
