import type { KubeadmConfigSpec } from "@causeway/api";
import { base64 } from "@causeway/foundation";
import { additionalConfig, appended, type IgnitionConfig, type IgnitionFile } from "./container-linux-config.ts";

type User = NonNullable<KubeadmConfigSpec["users"]>[number];

/** A file as the user data of either format takes it. */
export interface WrittenFile {
  readonly path: string;
  readonly owner?: string | undefined;
  /** Octal. */
  readonly permissions?: string | undefined;
  readonly encoding?: string | undefined;
  readonly append?: boolean | undefined;
  readonly content: string;
}

/** What an Ignition config is made from, in addition to the spec. Contents of Secrets are filled in. */
export interface IgnitionInput {
  readonly verb: "init" | "join";
  /** kubeadm's configuration. */
  readonly content: string;
  readonly files: readonly WrittenFile[];
  readonly passwords: ReadonlyMap<string, string>;
}

const kubeadmPath = "/etc/kubeadm.yml";
const sentinelFolder = "/run/cluster-api";

/**
 * Ignition user data (config 2.3.0, which Flatcar reads), with the unit kubeadm.service that upstream's has: a drop-in
 * of the additional config may change it. Placeholders of cloud-init's jinja are not filled in.
 *
 * @throws Error that says what cannot be expressed
 */
export function ignitionData(spec: KubeadmConfigSpec, input: IgnitionInput): string {
  const { containerLinuxConfig } = spec.ignition ?? {};
  const base: IgnitionConfig = {
    passwd: { users: (spec.users ?? []).map((user) => account(user, input.passwords)) },
    systemd: { units: units(spec) },
    storage: { ...disks(spec.diskSetup), files: files(spec, input) },
  };
  const additional = containerLinuxConfig?.additionalConfig;
  const whole = additional ? appended(base, additionalConfig(additional, containerLinuxConfig.strict === true)) : base;
  return JSON.stringify({ ignition: { version: "2.3.0" }, ...whole });
}

/** What a spec of format ignition cannot have: one line for each problem. */
export function ignitionProblems(spec: KubeadmConfigSpec): string[] {
  const { partitions = [], filesystems = [] } = spec.diskSetup ?? {};
  const only = (path: string, isSet: boolean) => (isSet ? [`${path} is for format cloud-config only`] : []);
  return [
    ...only("bootCommands", (spec.bootCommands ?? []).length > 0),
    ...(spec.users ?? []).flatMap(({ inactive }, at) => only(`users[${at}].inactive`, inactive === true)),
    ...(spec.files ?? []).flatMap(({ encoding }, at) => only(`files[${at}].encoding gzip`, encoding === "gzip")),
    ...partitions.flatMap(({ tableType, diskLayout }, at) => [
      ...only(`diskSetup.partitions[${at}].tableType`, tableType !== undefined),
      ...only(`diskSetup.partitions[${at}].diskLayout`, diskLayout !== undefined),
    ]),
    ...filesystems.flatMap(({ replaceFS, partition, label }, at) => [
      ...only(`diskSetup.filesystems[${at}].replaceFS`, replaceFS !== undefined),
      ...only(`diskSetup.filesystems[${at}].partition`, partition !== undefined),
      ...(label === undefined ? [`diskSetup.filesystems[${at}].label is required with format ignition`] : []),
    ]),
    ...mountProblems(spec),
    ...additionalProblems(spec),
  ];
}

function mountProblems({ mounts = [], diskSetup }: KubeadmConfigSpec): string[] {
  const labels = new Set((diskSetup?.filesystems ?? []).map(({ label }) => label));
  return mounts.flatMap(([label = "", place = ""], at) => [
    ...(labels.has(label) ? [] : [`mounts[${at}]: no file system of diskSetup has the label ${JSON.stringify(label)}`]),
    ...(place.startsWith("/") ? [] : [`mounts[${at}]: ${JSON.stringify(place)} is not an absolute path`]),
  ]);
}

function additionalProblems({ ignition }: KubeadmConfigSpec): string[] {
  const { additionalConfig: text, strict = false } = ignition?.containerLinuxConfig ?? {};
  if (!text) return [];
  try {
    additionalConfig(text, strict);
    return [];
  } catch (error) {
    return [
      `ignition.containerLinuxConfig.additionalConfig: ${error instanceof Error ? error.message : String(error)}`,
    ];
  }
}

function account(user: User, passwords: ReadonlyMap<string, string>): object {
  const { name, gecos, groups, homeDir, shell, primaryGroup, sshAuthorizedKeys } = user;
  const password = passwords.get(name) ?? user.passwd;
  return {
    name,
    ...(gecos === undefined ? {} : { gecos }),
    ...(groups === undefined ? {} : { groups: groups.split(",").map((group) => group.trim()) }),
    ...(homeDir === undefined ? {} : { homeDir }),
    ...(shell === undefined ? {} : { shell }),
    ...(password === undefined ? {} : { passwordHash: password }),
    ...(primaryGroup === undefined ? {} : { primaryGroup }),
    ...(sshAuthorizedKeys === undefined ? {} : { sshAuthorizedKeys }),
  };
}

function units({ ntp, mounts = [], diskSetup }: KubeadmConfigSpec): object[] {
  const devices = new Map((diskSetup?.filesystems ?? []).map(({ label, device }) => [label, device]));
  const kubeadm = [
    "[Unit]",
    "Description=kubeadm",
    "# The script moves this file away once it has succeeded, so that it runs once.",
    `ConditionPathExists=${kubeadmPath}`,
    "After=network.target",
    "[Service]",
    "Type=oneshot",
    "ExecStart=/etc/kubeadm.sh",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ];
  const mount = ([label = "", place = "", ...options]: readonly string[]) => ({
    name: `${place.replace(/^\//, "").replaceAll("/", "-")}.mount`,
    enabled: true,
    contents: [
      "[Unit]",
      `Description=Mount ${label}`,
      "",
      "[Mount]",
      `What=${devices.get(label) ?? ""}`,
      `Where=${place}`,
      `Options=${options.join(",")}`,
      "",
      "[Install]",
      "WantedBy=multi-user.target",
      "",
    ].join("\n"),
  });
  return [
    { name: "kubeadm.service", enabled: true, contents: kubeadm.join("\n") },
    ...(ntp && ntp.enabled !== false ? [{ name: "ntpd.service", enabled: true }] : []),
    ...mounts.map(mount),
  ];
}

function disks(
  setup: KubeadmConfigSpec["diskSetup"],
): Pick<NonNullable<IgnitionConfig["storage"]>, "disks" | "filesystems"> {
  const { partitions, filesystems } = setup ?? {};
  return {
    ...(partitions
      ? {
          disks: partitions.map(({ device, overwrite, layout }) => ({
            device,
            ...(overwrite === undefined ? {} : { wipeTable: overwrite }),
            ...(layout === false ? {} : { partitions: [{}] }),
          })),
        }
      : {}),
    ...(filesystems
      ? {
          filesystems: filesystems.map(({ label, device, filesystem, overwrite = false, extraOpts }) => ({
            name: label,
            mount: {
              device,
              format: filesystem,
              wipeFilesystem: overwrite,
              label,
              ...(extraOpts ? { options: extraOpts } : {}),
            },
          })),
        }
      : {}),
  };
}

function files(spec: KubeadmConfigSpec, { verb, content, files: given }: IgnitionInput): IgnitionFile[] {
  const { users = [], ntp } = spec;
  const verbosity = spec.verbosity === undefined ? "" : ` --v ${spec.verbosity}`;
  const script = [
    "#!/bin/bash",
    "set -e",
    ...(spec.preKubeadmCommands ?? []),
    `kubeadm ${verb} --config ${kubeadmPath}${verbosity}`,
    `mkdir -p ${sentinelFolder} && echo success > ${sentinelFolder}/bootstrap-success.complete`,
    `mv ${kubeadmPath} /tmp/`,
    ...(spec.postKubeadmCommands ?? []),
    "",
  ];
  const byPassword = users.filter(({ lockPassword }) => lockPassword === false).map(({ name }) => name);
  const sshd = [
    "Subsystem sftp internal-sftp",
    "ClientAliveInterval 180",
    "UseDNS no",
    "UsePAM yes",
    "PrintLastLog no",
    "PrintMotd no",
    "",
    `Match User ${byPassword.join(",")}`,
    "  PasswordAuthentication yes",
    "",
  ];
  const time = [
    ...(ntp?.servers ?? []).map((server) => `server ${server}`),
    "restrict default nomodify nopeer noquery notrap limited kod",
    "restrict 127.0.0.1",
    "restrict [::1]",
    "",
  ];
  const plain = (path: string, permissions: string, lines: readonly string[]) =>
    fileOf({ path, permissions, content: lines.join("\n") });
  return [
    ...users.flatMap(({ name, sudo }) =>
      sudo ? [plain(`/etc/sudoers.d/${name}`, "0600", [`${name} ${sudo}`, ""])] : [],
    ),
    ...(byPassword.length > 0 ? [plain("/etc/ssh/sshd_config", "0600", sshd)] : []),
    ...given.map(fileOf),
    plain("/etc/kubeadm.sh", "0700", script),
    plain(kubeadmPath, "0600", [content]),
    ...(ntp && ntp.enabled !== false && ntp.servers?.length ? [plain("/etc/ntp.conf", "0644", time)] : []),
  ];
}

function fileOf({ path, owner, permissions, encoding, append, content }: WrittenFile): IgnitionFile {
  const [user, group] = (owner ?? "").split(":").map((name) => name.trim());
  const isEncoded = encoding === "base64" || encoding === "gzip+base64";
  return {
    filesystem: "root",
    path,
    mode: Number.parseInt(permissions ?? "0644", 8),
    ...(append === undefined ? {} : { append }),
    ...(user ? { user: { name: user } } : {}),
    ...(group ? { group: { name: group } } : {}),
    contents: {
      source: `data:;base64,${isEncoded ? content.replaceAll(/\s/g, "") : base64(content)}`,
      ...(encoding === "gzip+base64" ? { compression: "gzip" } : {}),
    },
  };
}
