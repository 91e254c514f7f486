/** A cluster of the devcloud's own Magnum, and Causeway next to it: all that its migration needs. */
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { openProject } from "../../nodes/project.ts";
import { freePort } from "../../support/free-ports.ts";
import { causeway, eventually, type Started } from "../../support/processes.ts";
import { openCommand, type Command } from "./command.ts";
import { allowAbandon } from "./devcloud.ts";
import { requester, type Requester } from "./heat.ts";
import { openLeg, type Leg } from "./leg.ts";
import { machineShell } from "./machine.ts";
import { makeOldCluster, type OldCluster, type OldClusterOf } from "./old-cluster.ts";
import { openOutside, type Outside } from "./outside.ts";
import { denyChanges, readPolicy } from "./policy.ts";
import { alive, readTraces, trace, undo } from "./traces.ts";
import { takeTurn } from "./turn.ts";

const TIMEOUT = 15 * 60_000;
export const NAME = "web";
const CIDR = "10.94.6.0/24";

export interface Rig extends Command {
  readonly cloud: Cloud;
  readonly admin: Cloud;
  readonly ask: Requester;
  readonly old: OldCluster;
  readonly outside: Outside;
  readonly management: KubernetesClient;
  /** The kubeconfig of the old cluster's administrator. */
  readonly source: string;
  /** Denies changes of the cluster by the policy of the old Magnum. */
  deny(): void;
  close(): Promise<void>;
}

export interface RigOf {
  readonly programs: string;
  readonly version: string;
  readonly kubelet: string;
  readonly images: string;
}

/** What is open and runs, and how it ends. */
interface Opened {
  readonly dir: string;
  readonly project: Awaited<ReturnType<typeof openProject>>;
  readonly admin: Cloud;
  readonly ask: Requester;
  readonly closing: (() => Promise<unknown>)[];
  readonly start: (...args: string[]) => Started;
}

export async function startRig(of: RigOf): Promise<Rig> {
  const endGuard = await takeTurn();
  const started: Started[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.reverse()) await end().catch((error: unknown) => console.error(error));
    const left = readTraces();
    if (left !== undefined) await undo(left);
    endGuard();
  };
  try {
    const dir = mkdtempSync(join(tmpdir(), "causeway-migration-"));
    trace({ dir });
    const project = await openProject(process.env["OS_CLOUD"] ?? "devcloud", join(dir, "clouds.yaml"));
    const { entry, clouds, cloud } = project;
    trace({ project: { entry, clouds, id: await cloud.projectId() } });
    const admin = connectCloud(loadCloudsYaml({ cloud: `${entry}-admin`, path: clouds }));
    closing.push(
      () => project.release(),
      () => admin.close(),
    );
    const ask = await requester(entry, clouds);
    const start = (...args: string[]): Started => {
      const program = causeway(args, { env: { OS_CLIENT_CONFIG_FILE: clouds } });
      started.push(program);
      trace({ programs: started.map(({ child }) => alive(child.pid ?? 0)) });
      return program;
    };
    const rig = await startOn({ dir, project, admin, ask, closing, start }, of);
    return { ...rig, close };
  } catch (error) {
    const said = started.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

async function startOn(opened: Opened, of: RigOf): Promise<Omit<Rig, "close">> {
  const { dir, project, admin, ask, closing } = opened;
  trace({ abandons: true });
  await allowAbandon();
  await eventually(TIMEOUT, () => ask("GET", "orchestration", "/stacks").then(() => true));
  const root = join(dir, "machines");
  let leg: Leg | undefined;
  const reach: OldClusterOf["reach"] = async ({ id: networkId, subnet: subnetId, floating }) => {
    const all = await project.cloud.network.securityGroups.all({});
    const groups = all.filter(({ name }) => /secgroup_kube_(master|minion)/.test(name)).map(({ id }) => id);
    const projectId = await project.cloud.projectId();
    leg = await openLeg({ cloud: project.cloud, admin }, { projectId, networkId, subnetId, groups, floating });
  };
  const { version, kubelet, images } = of;
  const making = { cloud: project.cloud, ask, root, name: NAME, version, cidr: CIDR, kubelet, images, reach };
  const old = await makeOldCluster({ ...making, programs: join(of.programs, version) });
  closing.push(() => old.stop());
  if (leg === undefined) throw new Error("the masters were configured without their network");
  const kubeconfig = await startCauseway(opened, of);
  const management = createClient(loadKubeconfig({ path: kubeconfig }));
  closing.push(() => management.close());
  const source = join(dir, "source.kubeconfig");
  writeFileSync(source, old.kubeconfig, { mode: 0o600 });
  const { entry, clouds, cloud } = project;
  const outside = await openOutside(old.floating, old.port);
  const shell = machineShell(dir, root);
  const command = openCommand({ name: NAME, entry, clouds, kubeconfig, source, peerHost: leg.address, shell });
  const deny = (): void => {
    const policy = readPolicy();
    trace({ policy });
    denyChanges(old.uuid, policy);
  };
  return { cloud, admin, ask, old, outside, management, source, ...command, deny };
}

/** The management cluster with its controllers, the new Magnum API, and machines for workers; its kubeconfig. */
async function startCauseway({ dir, project, start }: Opened, { programs, version, kubelet, images }: RigOf) {
  const folder = join(dir, "programs");
  mkdirSync(folder);
  symlinkSync(join(programs, version), join(folder, version));
  const { entry, clouds } = project;
  const state = join(dir, "state");
  const runtime = ["--runtime", "process", "--programs", folder];
  start("up", "--cloud", entry, "--state", state, "--node-networks", CIDR, ...runtime);
  const management = join(state, "management.kubeconfig");
  await eventually(TIMEOUT, () => existsSync(management));
  const { authUrl, region } = loadCloudsYaml({ cloud: entry, path: clouds });
  const listen = `127.0.0.1:${await freePort()}`;
  const api = ["--kubeconfig", management, "--keystone-url", authUrl, "--listen", listen];
  start("run", "magnum-api", ...api, ...(region === undefined ? [] : ["--region", region]));
  const real = ["--kubelet", "real", "--kubelet-path", kubelet, "--images", images];
  start("machine-agent", "--cloud", entry, "--state", join(dir, "agent"), ...real);
  return management;
}
