import { readTextFile, systemClock } from "@causeway/foundation";
import { createClient } from "@causeway/kubernetes";
import {
  createMachineShell,
  createMagnumDatabase,
  discoverCluster,
  isBlocked,
  phases,
  planPhase,
  readCaKey,
  readRecord,
  runPhase,
  type Tools,
} from "@causeway/magnum-migration";
import { connectCloud, renderCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { withManagement } from "../../clusters/place.ts";
import { chosenCloud, chosenCluster } from "../../composition/chosen.ts";
import { confirm } from "../../terminal/confirm.ts";
import { commandLog } from "../../terminal/text-log.ts";
import type { DiscoverOptions, MigrateOptions, PhaseCommand, StatusOptions } from "./command.ts";
import { BLOCKED, renderInventory, renderPlan, renderStatus } from "./render.ts";
import { isRetireConfirmed } from "./confirm-retire.ts";

/** The entry of clouds.yaml that the Magnum API gives to clusters. */
const ENTRY = "magnum";
const print = (text: string): void => void process.stdout.write(text);

/** Reads a cluster, shows it, and records it. Throws what `discoverCluster` throws. */
export async function discover(cluster: string, options: DiscoverOptions, signal: AbortSignal): Promise<void> {
  const cloud = connectCloud(chosenCloud(options), { clock: systemClock, log: commandLog(options.logLevel) });
  const now = systemClock.now();
  try {
    if (options.dryRun) {
      const inventory = await discoverCluster({ cloud, management: undefined, now }, cluster, signal);
      print(renderInventory(inventory, options.output));
      if (inventory.findings.some(({ blocks }) => blocks)) process.exitCode = BLOCKED;
      return;
    }
    await withManagement(options, async ({ client }) => {
      print(
        renderInventory(await discoverCluster({ cloud, management: client, now }, cluster, signal), options.output),
      );
    });
  } finally {
    await cloud.close();
  }
}

/** Shows what is recorded of a migration. Throws what `readRecord` throws. */
export async function status(cluster: string, options: StatusOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client }) => {
    print(renderStatus(await readRecord(client, cluster, signal), options.output));
  });
}

/** Runs a phase, or shows what it would do. Throws what `runPhase` throws, and MIGRATE_NOT_CONFIRMED. */
export async function phase(
  name: PhaseCommand,
  cluster: string,
  options: MigrateOptions,
  signal: AbortSignal,
): Promise<void> {
  const config = chosenCloud(options);
  const caKey = options.caKey === undefined ? {} : { caKey: readCaKey(options.caKey) };
  const cloud = connectCloud(config, { clock: systemClock, log: commandLog(options.logLevel) });
  const admin =
    options.adminCloud === undefined
      ? undefined
      : connectCloud(chosenCloud({ ...options, osCloud: options.adminCloud }), { clock: systemClock });
  const source = createClient(chosenCluster({ kubeconfig: options.sourceKubeconfig }, "--source-kubeconfig"));
  try {
    await withManagement(options, async ({ client }) => {
      const record = await readRecord(client, cluster, signal);
      const tools: Tools = {
        management: client,
        source,
        cloud,
        shell: createMachineShell(options.machineShell),
        clock: systemClock,
        cloudsYaml: renderCloudsYaml({ ...config, name: ENTRY }),
        keystone: keystoneOf(config),
        peerHost: options.peerHost,
        ...(admin ? { admin } : {}),
        ...(options.magnumSql === undefined ? {} : { database: createMagnumDatabase(options.magnumSql) }),
        ...caKey,
        acceptUnreachable: options.acceptUnreachable,
        ...(options.nodeImage === undefined ? {} : { nodeImage: options.nodeImage }),
        ...(options.etcdUrls === undefined ? {} : { etcdUrls: options.etcdUrls.split(",") }),
        report: (line) => void process.stderr.write(`${line}\n`),
        checked: new Set(),
      };
      if (options.dryRun) {
        const plan = await planPhase(phases[name], tools, record, signal);
        print(renderPlan(plan, options.output));
        if (isBlocked(plan)) process.exitCode = BLOCKED;
        return;
      }
      if (name === "retire" && !options.yes) {
        const plan = await planPhase(phases.retire, tools, record, signal);
        if (!(await isRetireConfirmed(plan, (question) => confirm(question, signal)))) return;
      }
      const { proof } = await runPhase(phases[name], tools, record, signal);
      print(renderPlan({ steps: [], proof }, options.output));
    });
  } finally {
    await Promise.all([cloud.close(), source.close(), admin?.close()]);
  }
}

/** As `causeway run magnum-api` has it by --keystone-url and --keystone-ca-file. */
function keystoneOf({ authUrl, tls }: CloudConfig): Tools["keystone"] {
  const certificateAuthority = tls?.ca ?? (tls?.caFile === undefined ? undefined : readTextFile(tls.caFile));
  return { authUrl, ...(certificateAuthority === undefined ? {} : { certificateAuthority }) };
}
