import { join, resolve } from "node:path";
import { systemClock, InputError } from "@causeway/foundation";
import { folderDisks, runMachineAgent, type BootedMachine } from "@causeway/machine-agent";
import { connectCloud, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { makeStateFolder } from "../../composition/folder.ts";
import { cloudMachines, imageFolder, launchInNamespaces } from "../../composition/machines.ts";
import { commandLog } from "../../terminal/text-log.ts";
import type { MachineAgentOptions } from "./command.ts";

/**
 * Plays every machine of a cloud whose servers are network namespaces of this host, until the signal aborts.
 * @throws STATE_NOT_WRITABLE, and what `connectCloud` throws
 */
export async function machineAgent(options: MachineAgentOptions, signal: AbortSignal): Promise<void> {
  makeStateFolder(options.state);
  const log = commandLog(options.logLevel);
  const open = (reload: () => CloudConfig) => connectCloud(reload(), { clock: systemClock, log, reload });
  const project = open(() => loadCloudsYaml({ cloud: options.osCloud }));
  const admin = open(() => adminConfig(options));
  try {
    const projectId = await project.projectId({ signal });
    const disks = folderDisks(join(options.state, options.osCloud));
    const launch = launchInNamespaces({
      disks,
      clock: systemClock,
      log,
      program: programFor(options),
      real: options.kubelet === "real",
      codeCache: join(options.state, "code-cache"),
    });
    log.info("playing the machines of a project", { cloud: options.osCloud, project: projectId });
    const source = cloudMachines(admin, projectId);
    const hasImage = (machine: BootedMachine) => imageFolder(options, machine) !== undefined;
    await runMachineAgent({ source, launch, disks, hasImage, interval: 1000, clock: systemClock, log }, signal);
  } finally {
    await Promise.all([project.close(), admin.close()]);
  }
}

/** How this program is started again for one machine. */
function programFor(options: MachineAgentOptions): string[] {
  const { logLevel, kubelet, kubeletPath, podNetwork, images, machineImages, volumes } = options;
  const self = [process.execPath, ...process.execArgv, "--max-semi-space-size=1", process.argv[1] ?? ""];
  const machine = [...self, "machine", "--log-level", logLevel];
  if (kubelet === "simulated") return machine;
  const from = images === undefined ? [] : ["--images", resolve(images)];
  const attached = volumes === undefined ? [] : ["--volumes", resolve(volumes)];
  const network = ["--pod-network", podNetwork];
  const whole = machineImages === undefined ? [] : ["--machine-images", resolve(machineImages)];
  return [...machine, "--kubelet", "real", "--kubelet-path", kubeletPath, ...network, ...from, ...whole, ...attached];
}

/**
 * User data is shown to administrators only: --admin-cloud, or the entry named like the cloud with "-admin" behind it.
 */
function adminConfig(options: MachineAgentOptions): CloudConfig {
  if (options.adminCloud !== undefined) return loadCloudsYaml({ cloud: options.adminCloud });
  try {
    return loadCloudsYaml({ cloud: `${options.osCloud}-admin` });
  } catch (cause) {
    throw new InputError(
      "ADMIN_CLOUD_NEEDED",
      `the machine agent needs an administrator's account: only administrators can read the user data of servers`,
      {
        hint: `Set --admin-cloud NAME, or add to clouds.yaml an entry ${options.osCloud}-admin.`,
        cause,
      },
    );
  }
}
