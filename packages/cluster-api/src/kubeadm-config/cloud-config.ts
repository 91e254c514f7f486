import { stringify } from "yaml";
import type { KubeadmConfigSpec } from "@causeway/api";
import { certificateFiles, type Certificates } from "../objects/certificates.ts";
import { clusterConfiguration, initConfiguration, type ClusterFactsForKubeadm } from "../objects/kubeadm.ts";
import { ignitionData, type WrittenFile } from "./ignition.ts";
import { joinConfiguration, type JoinFacts } from "./join-configuration.ts";

const joinPath = "/run/kubeadm/kubeadm-join-config.yaml";
const initPath = "/run/kubeadm/kubeadm.yaml";
/** The machine writes this once it has joined (Cluster API bootstrap contract). */
const sentinelPath = "/run/cluster-api/bootstrap-success.complete";

/** Contents of files and passwords that are in Secrets, by "NAME/KEY". */
export type SecretValues = ReadonlyMap<string, string>;

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** Every Secret value that the user data takes in. */
export function secretKeysOf(spec: KubeadmConfigSpec): SecretKey[] {
  const sources = [
    ...(spec.files ?? []).map((file) => file.contentFrom),
    ...(spec.users ?? []).map((user) => user.passwdFrom),
  ];
  return sources.flatMap((source) => (source ? [source.secret] : []));
}

/** What makes the first machine of a control plane. */
export interface InitFacts extends ClusterFactsForKubeadm {
  readonly machine: string;
  readonly certificates: Certificates;
}

/**
 * cloud-init user data that makes a machine join: the user's files, users, disks and commands around `kubeadm join`.
 */
export function cloudConfig(
  spec: KubeadmConfigSpec,
  facts: JoinFacts & { readonly certificates?: Certificates | undefined },
  secrets: SecretValues,
): string {
  const join = stringify(joinConfiguration(spec.joinConfiguration, facts), yaml11);
  return userData(spec, secrets, {
    verb: "join",
    path: joinPath,
    content: `---\n${join}`,
    certificates: facts.certificates ? certificateFiles(facts.certificates, spec.clusterConfiguration) : [],
  });
}

/**
 * cloud-init user data of the first machine of a control plane: the same around `kubeadm init`, and the certificates.
 */
export function initCloudConfig(spec: KubeadmConfigSpec, facts: InitFacts, secrets: SecretValues): string {
  const cluster = stringify(clusterConfiguration(spec.clusterConfiguration, facts), yaml11);
  const init = stringify(initConfiguration(spec.initConfiguration, facts), yaml11);
  return userData(spec, secrets, {
    verb: "init",
    path: initPath,
    content: `---\n${cluster}\n---\n${init}`,
    certificates: certificateFiles(facts.certificates, spec.clusterConfiguration),
  });
}

interface Boot {
  readonly verb: "init" | "join";
  readonly path: string;
  readonly content: string;
  readonly certificates: readonly WrittenFile[];
}

function userData(spec: KubeadmConfigSpec, secrets: SecretValues, boot: Boot): string {
  if (spec.format !== "ignition") return cloudInit(spec, secrets, boot);
  const files = [...boot.certificates, ...(spec.files ?? []).map((file) => withContent(file, secrets))];
  const passwords = new Map(
    (spec.users ?? []).flatMap(({ name, passwdFrom }): [string, string][] =>
      passwdFrom ? [[name, valueOf(passwdFrom.secret, secrets)]] : [],
    ),
  );
  return ignitionData(spec, { verb: boot.verb, content: boot.content, files, passwords });
}

/** A jinja template, so that `{{ ds.meta_data.… }}` in what the user wrote is filled on the machine. */
function cloudInit(spec: KubeadmConfigSpec, secrets: SecretValues, boot: Boot): string {
  const verbosity = spec.verbosity === undefined ? "" : ` --v ${spec.verbosity}`;
  const command = `kubeadm ${boot.verb} --config ${boot.path}${verbosity} && echo success > ${sentinelPath}`;
  const document = {
    write_files: [
      ...boot.certificates,
      ...(spec.files ?? []).map((file) => writtenFile(file, secrets)),
      { path: boot.path, owner: "root:root", permissions: "0640", content: boot.content },
      {
        path: "/run/cluster-api/placeholder",
        owner: "root:root",
        permissions: "0640",
        content: "Keeps the directory there for the sentinel file of a join that succeeded.\n",
      },
    ],
    ...(spec.bootCommands ? { bootcmd: spec.bootCommands } : {}),
    runcmd: [...(spec.preKubeadmCommands ?? []), command, ...(spec.postKubeadmCommands ?? [])],
    ...(spec.ntp
      ? { ntp: { enabled: spec.ntp.enabled ?? true, ...(spec.ntp.servers ? { servers: spec.ntp.servers } : {}) } }
      : {}),
    ...(spec.users ? { users: spec.users.map((user) => account(user, secrets)) } : {}),
    ...disks(spec.diskSetup),
    ...(spec.mounts ? { mounts: spec.mounts } : {}),
  };
  return `## template: jinja\n#cloud-config\n\n${stringify(document, yaml11)}`;
}

/** PyYAML, which cloud-init reads with, and kubeadm's reader take YAML 1.1: `yes` and `0640` must be quoted. */
const yaml11 = { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false } as const;

type File = NonNullable<KubeadmConfigSpec["files"]>[number];
type User = NonNullable<KubeadmConfigSpec["users"]>[number];

function withContent(file: File, secrets: SecretValues): WrittenFile {
  const { path, owner, permissions, encoding, append, content = "", contentFrom } = file;
  const found = contentFrom ? valueOf(contentFrom.secret, secrets) : content;
  return { path, owner, permissions, encoding, append, content: found };
}

function writtenFile(file: File, secrets: SecretValues): Record<string, unknown> {
  const { path, owner, permissions, encoding, append, content } = withContent(file, secrets);
  return {
    path,
    ...(owner === undefined ? {} : { owner }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(append === undefined ? {} : { append }),
    content,
  };
}

/** The names of cloud-init's `users`, where they differ from ours. */
function account(user: User, secrets: SecretValues): Record<string, unknown> {
  const { homeDir, lockPassword, passwdFrom, primaryGroup, sshAuthorizedKeys, passwd, ...same } = user;
  const password = passwdFrom ? valueOf(passwdFrom.secret, secrets) : passwd;
  return {
    ...same,
    ...(homeDir === undefined ? {} : { homedir: homeDir }),
    ...(lockPassword === undefined ? {} : { lock_passwd: lockPassword }),
    ...(primaryGroup === undefined ? {} : { primary_group: primaryGroup }),
    ...(password === undefined ? {} : { passwd: password }),
    ...(sshAuthorizedKeys === undefined ? {} : { ssh_authorized_keys: sshAuthorizedKeys }),
  };
}

function valueOf({ name, key }: SecretKey, secrets: SecretValues): string {
  return secrets.get(`${name}/${key}`) ?? "";
}

function disks(setup: KubeadmConfigSpec["diskSetup"]): Record<string, unknown> {
  const { partitions, filesystems } = setup ?? {};
  return {
    ...(partitions ? { disk_setup: Object.fromEntries(partitions.map((p) => [p.device, partition(p)])) } : {}),
    ...(filesystems
      ? {
          fs_setup: filesystems.map(({ replaceFS, extraOpts, ...same }) => ({
            ...same,
            ...(replaceFS === undefined ? {} : { replace_fs: replaceFS }),
            ...(extraOpts === undefined ? {} : { extra_opts: extraOpts }),
          })),
        }
      : {}),
  };
}

type Partition = NonNullable<NonNullable<KubeadmConfigSpec["diskSetup"]>["partitions"]>[number];

function partition({ layout, diskLayout, overwrite, tableType }: Partition): Record<string, unknown> {
  const parts = diskLayout?.map(({ percentage, partitionType }) =>
    partitionType === undefined ? percentage : [percentage, partitionType],
  );
  return {
    layout: parts ?? layout ?? true,
    ...(overwrite === undefined ? {} : { overwrite }),
    ...(tableType === undefined ? {} : { table_type: tableType }),
  };
}
