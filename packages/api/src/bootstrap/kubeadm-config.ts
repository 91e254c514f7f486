import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { conditions, flag, int32, int64, list, object, oneOf, optional } from "../schema/fields.ts";
import { templateMetadata, text } from "../schema/fields.ts";
import { deprecatedStatus, oldFailure } from "../versions/shapes.ts";
import { kubeadmConfigTemplateV1Beta1 } from "./v1beta1/kubeadm-config-template.ts";
import { kubeadmConfigV1Beta1 } from "./v1beta1/kubeadm-config.ts";
import { clusterConfiguration, initConfiguration, joinConfiguration } from "./shapes.ts";

const commands = (description: string) => optional(list(text(1, 10240), { min: 1, max: 1000, description }));
const fromSecret = optional(object({ secret: object({ name: text(1, 253), key: text(1, 256) }) }));

const files = optional(
  list(
    object({
      path: text(1, 512),
      owner: optional(text(1, 256)),
      permissions: optional(text(1, 16)),
      encoding: optional(oneOf(["base64", "gzip", "gzip+base64"])),
      append: optional(flag()),
      content: optional(text(1, 10240)),
      contentFormat: optional(oneOf(["Raw", "Template"])),
      contentFrom: fromSecret,
    }),
    { min: 1, max: 200, description: "Files written before kubeadm runs." },
  ),
);

const users = optional(
  list(
    object({
      name: text(1, 256),
      gecos: optional(text(1, 256)),
      groups: optional(text(1, 256)),
      homeDir: optional(text(1, 256)),
      inactive: optional(flag()),
      shell: optional(text(1, 256)),
      passwd: optional(text(1, 256)),
      passwdFrom: fromSecret,
      primaryGroup: optional(text(1, 256)),
      lockPassword: optional(flag()),
      sudo: optional(text(1, 256)),
      sshAuthorizedKeys: optional(list(text(1, 2048), { max: 100 })),
    }),
    { min: 1, max: 100 },
  ),
);

const diskSetup = optional(
  object({
    filesystems: optional(
      list(
        object({
          device: text(1, 256),
          filesystem: text(1, 128),
          label: optional(text(1, 512)),
          partition: optional(text(1, 128)),
          overwrite: optional(flag()),
          replaceFS: optional(text(1, 128)),
          extraOpts: optional(list(text(1, 256), { max: 100 })),
        }),
        { max: 100 },
      ),
    ),
    partitions: optional(
      list(
        object({
          device: text(1, 256),
          layout: optional(flag()),
          diskLayout: optional(
            list(
              object({
                percentage: int32({ minimum: 1, maximum: 100 }),
                partitionType: optional(text(1, 36)),
              }),
              { min: 1, max: 100 },
            ),
          ),
          overwrite: optional(flag()),
          tableType: optional(oneOf(["mbr", "gpt"])),
        }),
        { max: 100 },
      ),
    ),
  }),
);

/** Fields of kubeadm's configuration of a machine. */
export const kubeadmFields = {
  clusterConfiguration: optional(clusterConfiguration),
  initConfiguration: optional(initConfiguration),
  joinConfiguration: optional(joinConfiguration),
  files,
  diskSetup,
  mounts: optional(list(list(text(1, 512), { min: 1, max: 100 }), { min: 1, max: 100 })),
  bootCommands: commands("Run on every boot, before anything else."),
  preKubeadmCommands: commands("Run before kubeadm."),
  postKubeadmCommands: commands("Run after kubeadm succeeded."),
  users,
  ntp: optional(object({ enabled: optional(flag()), servers: optional(list(text(1, 512), { max: 100 })) })),
  format: optional(oneOf(["cloud-config", "ignition"])),
  verbosity: optional(int32({ description: "kubeadm's -v." })),
  ignition: optional(
    object({
      containerLinuxConfig: optional(object({ additionalConfig: optional(text(1, 32768)), strict: optional(flag()) })),
    }),
  ),
};

const kubeadmConfigSpec = object(kubeadmFields, { default: {} });

const kubeadmConfigStatus = object({
  conditions: conditions(),
  initialization: optional(object({ dataSecretCreated: optional(flag()) })),
  dataSecretName: optional(text(1, 253)),
  observedGeneration: optional(int64({ minimum: 1 })),
  deprecated: deprecatedStatus(oldFailure),
});

const kubeadmConfigTemplateSpec = object({
  template: object({ metadata: optional(templateMetadata), spec: optional(object(kubeadmFields)) }),
});

/** What kubeadm is given on a machine, and what runs before and after it. */
export type KubeadmConfigSpec = Static<typeof kubeadmConfigSpec>;
/** The Secret with the bootstrap data, when there is one. */
export type KubeadmConfigStatus = Static<typeof kubeadmConfigStatus>;
/** The KubeadmConfig that is made for each machine. */
export type KubeadmConfigTemplateSpec = Static<typeof kubeadmConfigTemplateSpec>;
/** First-boot configuration of one machine that joins with kubeadm. */
export type KubeadmConfig = Resource<KubeadmConfigSpec, KubeadmConfigStatus>;
/** A template of KubeadmConfigs. */
export type KubeadmConfigTemplate = Resource<KubeadmConfigTemplateSpec, Record<string, never>>;

const clusterColumn = column("Cluster", `.metadata.labels.cluster\\.x-k8s\\.io/cluster-name`);
const names = {
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  labels: { ...contractLabels, [labels.provider]: "bootstrap-kubeadm" },
} as const;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const KubeadmConfig: Kind<KubeadmConfig> = defineKind({
  ...names,
  kind: "KubeadmConfig",
  description: "First-boot configuration of one machine that joins with kubeadm.",
  columns: [
    clusterColumn,
    conditionColumn("Ready", "Ready"),
    column("Data secret created", ".status.initialization.dataSecretCreated"),
    paused,
    age,
  ],
  spec: kubeadmConfigSpec,
  status: kubeadmConfigStatus,
  versions: [kubeadmConfigV1Beta1],
});

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const KubeadmConfigTemplate: Kind<KubeadmConfigTemplate> = defineKind({
  ...names,
  kind: "KubeadmConfigTemplate",
  description: "What the KubeadmConfigs of a MachineSet are made from.",
  columns: [age],
  spec: kubeadmConfigTemplateSpec,
  versions: [kubeadmConfigTemplateV1Beta1],
});
