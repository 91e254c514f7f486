import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, moved, within } from "../../lenses/lens.ts";
import { conditionsLens, failureLens } from "../../versions/status.ts";
import { kubeadmLens } from "./lenses.ts";
import {
  anyText,
  conditions,
  flag,
  instant,
  int32,
  int64,
  intOrString,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  text,
} from "../../schema/fields.ts";
import { oldConditions } from "../../versions/shapes.ts";

const configMapKeyRef = object({
  key: anyText(),
  name: optional(anyText({ default: "" })),
  optional: optional(flag()),
});

const extraEnvs = object({
  name: anyText(),
  value: optional(anyText()),
  valueFrom: optional(
    object({
      configMapKeyRef: optional(configMapKeyRef),
      fieldRef: optional(object({ apiVersion: optional(anyText()), fieldPath: anyText() })),
      fileKeyRef: optional(
        object({
          key: anyText(),
          optional: optional(flag({ default: false })),
          path: anyText(),
          volumeName: anyText(),
        }),
      ),
      resourceFieldRef: optional(
        object({ containerName: optional(anyText()), divisor: optional(intOrString()), resource: anyText() }),
      ),
      secretKeyRef: optional(configMapKeyRef),
    }),
  ),
});

const extraVolumes = object({
  hostPath: text(1, 512),
  mountPath: text(1, 512),
  name: text(1, 512),
  pathType: optional(anyText()),
  readOnly: optional(flag()),
});

const controllerManager = object({
  extraArgs: optional(mapOf(anyText())),
  extraEnvs: optional(list(extraEnvs, { max: 100 })),
  extraVolumes: optional(list(extraVolumes, { max: 100 })),
});

const contentFrom = object({ secret: object({ key: text(1, 256), name: text(1, 253) }) });

const localAPIEndpoint = object({ advertiseAddress: optional(text(1, 39)), bindPort: optional(int32()) });

const nodeRegistration = object({
  criSocket: optional(text(1, 512)),
  ignorePreflightErrors: optional(list(text(1, 512), { max: 50 })),
  imagePullPolicy: optional(oneOf(["Always", "IfNotPresent", "Never"])),
  imagePullSerial: optional(flag()),
  kubeletExtraArgs: optional(mapOf(anyText())),
  name: optional(text(1, 253)),
  taints: optional(
    list(object({ effect: anyText(), key: anyText(), timeAdded: optional(instant()), value: optional(anyText()) }), {
      max: 100,
    }),
  ),
});

const patches = object({ directory: optional(text(1, 512)) });

/** kubeadm's configuration, as v1beta1 has it. */
export const kubeadmSpecV1Beta1 = object({
  bootCommands: optional(list(text(1, 10240), { max: 1000 })),
  clusterConfiguration: optional(
    object({
      apiServer: optional(
        object({
          certSANs: optional(list(text(1, 253), { max: 100 })),
          extraArgs: optional(mapOf(anyText())),
          extraEnvs: optional(list(extraEnvs, { max: 100 })),
          extraVolumes: optional(list(extraVolumes, { max: 100 })),
          timeoutForControlPlane: optional(anyText()),
        }),
      ),
      apiVersion: optional(anyText()),
      caCertificateValidityPeriodDays: optional(int32({ minimum: 1, maximum: 36500 })),
      certificateValidityPeriodDays: optional(int32({ minimum: 1, maximum: 1095 })),
      certificatesDir: optional(text(1, 512)),
      clusterName: optional(text(1, 63)),
      controlPlaneEndpoint: optional(text(1, 512)),
      controllerManager: optional(controllerManager),
      dns: optional(object({ imageRepository: optional(text(1, 512)), imageTag: optional(text(1, 256)) })),
      encryptionAlgorithm: optional(oneOf(["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"])),
      etcd: optional(
        object({
          external: optional(
            object({
              caFile: text(1, 512),
              certFile: text(1, 512),
              endpoints: list(text(1, 512), { max: 50 }),
              keyFile: text(1, 512),
            }),
          ),
          local: optional(
            object({
              dataDir: optional(text(1, 512)),
              extraArgs: optional(mapOf(anyText())),
              extraEnvs: optional(list(extraEnvs, { max: 100 })),
              imageRepository: optional(text(1, 512)),
              imageTag: optional(text(1, 256)),
              peerCertSANs: optional(list(text(1, 253), { max: 100 })),
              serverCertSANs: optional(list(text(1, 253), { max: 100 })),
            }),
          ),
        }),
      ),
      featureGates: optional(mapOf(flag())),
      imageRepository: optional(text(1, 512)),
      kind: optional(anyText()),
      kubernetesVersion: optional(text(1, 256)),
      networking: optional(
        object({
          dnsDomain: optional(text(1, 253)),
          podSubnet: optional(text(1, 1024)),
          serviceSubnet: optional(text(1, 1024)),
        }),
      ),
      scheduler: optional(controllerManager),
    }),
  ),
  diskSetup: optional(
    object({
      filesystems: optional(
        list(
          object({
            device: text(1, 256),
            extraOpts: optional(list(text(1, 256), { max: 100 })),
            filesystem: text(1, 128),
            label: optional(text(1, 512)),
            overwrite: optional(flag()),
            partition: optional(text(1, 128)),
            replaceFS: optional(text(1, 128)),
          }),
          { max: 100 },
        ),
      ),
      partitions: optional(
        list(
          object({
            device: text(1, 256),
            diskLayout: optional(
              list(object({ partitionType: optional(text(1, 36)), percentage: int32({ minimum: 1, maximum: 100 }) }), {
                min: 1,
                max: 100,
              }),
            ),
            layout: flag(),
            overwrite: optional(flag()),
            tableType: optional(oneOf(["mbr", "gpt"])),
          }),
          { max: 100 },
        ),
      ),
    }),
  ),
  files: optional(
    list(
      object({
        append: optional(flag()),
        content: optional(text(1, 10240)),
        contentFormat: optional(oneOf(["Raw", "Template"])),
        contentFrom: optional(contentFrom),
        encoding: optional(oneOf(["base64", "gzip", "gzip+base64"])),
        owner: optional(text(1, 256)),
        path: text(1, 512),
        permissions: optional(text(1, 16)),
      }),
      { max: 200 },
    ),
  ),
  format: optional(oneOf(["cloud-config", "ignition"])),
  ignition: optional(
    object({
      containerLinuxConfig: optional(object({ additionalConfig: optional(text(1, 32768)), strict: optional(flag()) })),
    }),
  ),
  initConfiguration: optional(
    object({
      apiVersion: optional(anyText()),
      bootstrapTokens: optional(
        list(
          object({
            description: optional(text(1, 512)),
            expires: optional(instant()),
            groups: optional(list(text(1, 256), { max: 100 })),
            token: anyText(),
            ttl: optional(anyText()),
            usages: optional(list(text(1, 256), { max: 100 })),
          }),
          { max: 100 },
        ),
      ),
      kind: optional(anyText()),
      localAPIEndpoint: optional(localAPIEndpoint),
      nodeRegistration: optional(nodeRegistration),
      patches: optional(patches),
      skipPhases: optional(list(text(1, 256), { max: 50 })),
    }),
  ),
  joinConfiguration: optional(
    object({
      apiVersion: optional(anyText()),
      caCertPath: optional(text(1, 512)),
      controlPlane: optional(object({ localAPIEndpoint: optional(localAPIEndpoint) })),
      discovery: optional(
        object({
          bootstrapToken: optional(
            object({
              apiServerEndpoint: optional(text(1, 512)),
              caCertHashes: optional(list(text(1, 512), { max: 100 })),
              token: optional(text(1, 512)),
              unsafeSkipCAVerification: optional(flag()),
            }),
          ),
          file: optional(
            object({
              kubeConfig: optional(
                object({
                  cluster: optional(
                    object({
                      certificateAuthorityData: optional(text(1, 51200)),
                      insecureSkipTLSVerify: optional(flag()),
                      proxyURL: optional(text(1, 512)),
                      server: optional(text(1, 512)),
                      tlsServerName: optional(text(1, 512)),
                    }),
                  ),
                  user: object({
                    authProvider: optional(object({ config: optional(mapOf(anyText())), name: text(1, 256) })),
                    exec: optional(
                      object({
                        apiVersion: optional(text(1, 512)),
                        args: optional(list(text(1, 512), { max: 100 })),
                        command: text(1, 1024),
                        env: optional(list(object({ name: text(1, 512), value: text(1, 512) }), { max: 100 })),
                        provideClusterInfo: optional(flag()),
                      }),
                    ),
                  }),
                }),
              ),
              kubeConfigPath: text(1, 512),
            }),
          ),
          timeout: optional(anyText()),
          tlsBootstrapToken: optional(text(1, 512)),
        }),
      ),
      kind: optional(anyText()),
      nodeRegistration: optional(nodeRegistration),
      patches: optional(patches),
      skipPhases: optional(list(text(1, 256), { max: 50 })),
    }),
  ),
  mounts: optional(list(list(text(1, 512)), { max: 100 })),
  ntp: optional(object({ enabled: optional(flag()), servers: optional(list(text(1, 512), { max: 100 })) })),
  postKubeadmCommands: optional(list(text(1, 10240), { max: 1000 })),
  preKubeadmCommands: optional(list(text(1, 10240), { max: 1000 })),
  useExperimentalRetryJoin: optional(flag()),
  users: optional(
    list(
      object({
        gecos: optional(text(1, 256)),
        groups: optional(text(1, 256)),
        homeDir: optional(text(1, 256)),
        inactive: optional(flag()),
        lockPassword: optional(flag()),
        name: text(1, 256),
        passwd: optional(text(1, 256)),
        passwdFrom: optional(contentFrom),
        primaryGroup: optional(text(1, 256)),
        shell: optional(text(1, 256)),
        sshAuthorizedKeys: optional(list(text(1, 2048), { max: 100 })),
        sudo: optional(text(1, 256)),
      }),
      { max: 100 },
    ),
  ),
  verbosity: optional(int32()),
});

const status = object({
  conditions: oldConditions(),
  dataSecretName: optional(text(1, 253)),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(text(1, 256)),
  observedGeneration: optional(int64()),
  ready: optional(flag()),
  v1beta2: optional(object({ conditions: conditions() })),
});

/** How v1beta1 differs from the stored version. */
export const kubeadmConfigV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec: kubeadmSpecV1Beta1,
  status,
  columns: [column("Cluster", ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"), age],
  lens: all(
    within("spec", kubeadmLens),
    within("status", conditionsLens, failureLens, moved("ready", "initialization.dataSecretCreated")),
  ),
};
