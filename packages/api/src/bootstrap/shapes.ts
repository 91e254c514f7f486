import { anyText, flag, instant, int32, intOrString, list, listByKey, mapOf, object, oneOf } from "../schema/fields.ts";
import { optional, text } from "../schema/fields.ts";

/** What kubeadm configuration objects share (kubeadm.k8s.io/v1beta4, durations as whole seconds). */

/** Flags of a component, by name without "--". */
export const extraArgs = optional(
  listByKey(object({ name: text(1, 256), value: text(0, 1024) }), ["name", "value"], { min: 1, max: 100 }),
);

const keySelector = object({
  key: anyText(),
  name: optional(anyText({ default: "" })),
  optional: optional(flag()),
});

/** Environment variables of a component's container, as core/v1 EnvVar. */
export const extraEnvs = optional(
  list(
    object({
      name: anyText(),
      value: optional(anyText()),
      valueFrom: optional(
        object({
          configMapKeyRef: optional(keySelector),
          secretKeyRef: optional(keySelector),
          fieldRef: optional(object({ apiVersion: optional(anyText()), fieldPath: anyText() })),
          fileKeyRef: optional(
            object({
              key: anyText(),
              path: anyText(),
              volumeName: anyText(),
              optional: optional(flag({ default: false })),
            }),
          ),
          resourceFieldRef: optional(
            object({ containerName: optional(anyText()), resource: anyText(), divisor: optional(intOrString()) }),
          ),
        }),
      ),
    }),
    { min: 1, max: 100 },
  ),
);

/** Paths of the host that a component's container is given. */
export const extraVolumes = optional(
  list(
    object({
      name: text(1, 512),
      hostPath: text(1, 512),
      mountPath: text(1, 512),
      pathType: optional(anyText()),
      readOnly: optional(flag()),
    }),
    { min: 1, max: 100 },
  ),
);

/** What each component of a control plane may be given. */
export const component = { extraArgs, extraEnvs, extraVolumes };

/** How the machine registers its Node, and how kubeadm configures its kubelet. */
export const nodeRegistration = optional(
  object({
    name: optional(text(1, 253)),
    criSocket: optional(text(1, 512)),
    taints: optional(
      list(
        object({
          key: anyText(),
          value: optional(anyText()),
          effect: anyText(),
          timeAdded: optional(instant()),
        }),
        { max: 100, description: "An empty list means no taints at all." },
      ),
    ),
    kubeletExtraArgs: extraArgs,
    ignorePreflightErrors: optional(list(text(1, 512), { min: 1, max: 50 })),
    imagePullPolicy: optional(oneOf(["Always", "IfNotPresent", "Never"])),
    imagePullSerial: optional(flag()),
  }),
);

const timeout = optional(int32({ minimum: 0 }));

/** How long kubeadm waits, in seconds. */
export const timeouts = optional(
  object({
    controlPlaneComponentHealthCheckSeconds: timeout,
    discoverySeconds: timeout,
    etcdAPICallSeconds: timeout,
    kubeletHealthCheckSeconds: timeout,
    kubernetesAPICallSeconds: timeout,
    tlsBootstrapSeconds: timeout,
  }),
);

/** The folder of the machine with kubeadm's patches. */
export const patches = optional(object({ directory: optional(text(1, 512)) }));
/** Phases of kubeadm that are left out, such as "addon/kube-proxy". */
export const skipPhases = optional(list(text(1, 256), { min: 1, max: 50 }));
/** Where the API server of the machine listens. */
export const localAPIEndpoint = optional(
  object({ advertiseAddress: optional(text(1, 39)), bindPort: optional(int32({ minimum: 1 })) }),
);

const names = (max: number) => optional(list(text(1, max), { min: 1, max: 100 }));

/** kubeadm's ClusterConfiguration: what all control plane machines have in common. */
export const clusterConfiguration = object({
  apiServer: optional(object({ ...component, certSANs: names(253) })),
  controllerManager: optional(object(component)),
  scheduler: optional(object(component)),
  caCertificateValidityPeriodDays: optional(int32({ minimum: 1, maximum: 36500 })),
  certificateValidityPeriodDays: optional(int32({ minimum: 1, maximum: 1095 })),
  certificatesDir: optional(text(1, 512)),
  controlPlaneEndpoint: optional(text(1, 512)),
  dns: optional(object({ imageRepository: optional(text(1, 512)), imageTag: optional(text(1, 256)) })),
  encryptionAlgorithm: optional(oneOf(["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"])),
  etcd: optional(
    object({
      external: optional(
        object({
          endpoints: list(text(1, 512), { min: 1, max: 50 }),
          caFile: text(1, 512),
          certFile: text(1, 512),
          keyFile: text(1, 512),
        }),
      ),
      local: optional(
        object({
          dataDir: optional(text(1, 512)),
          extraArgs,
          extraEnvs,
          imageRepository: optional(text(1, 512)),
          imageTag: optional(text(1, 256)),
          peerCertSANs: names(253),
          serverCertSANs: names(253),
        }),
      ),
    }),
  ),
  featureGates: optional(mapOf(flag())),
  imageRepository: optional(text(1, 512)),
});

/** kubeadm's InitConfiguration: for the first control plane machine. */
export const initConfiguration = object({
  bootstrapTokens: optional(
    list(
      object({
        token: text(1, 23),
        description: optional(text(1, 512)),
        expires: optional(instant()),
        groups: names(256),
        ttlSeconds: optional(int32({ minimum: 0 })),
        usages: names(256),
      }),
      { min: 1, max: 100 },
    ),
  ),
  localAPIEndpoint,
  nodeRegistration,
  patches,
  skipPhases,
  timeouts,
});

const kubeConfigUser = object({
  authProvider: optional(object({ name: text(1, 256), config: optional(mapOf(anyText())) })),
  exec: optional(
    object({
      apiVersion: optional(text(1, 512)),
      command: text(1, 1024),
      args: names(512),
      env: optional(list(object({ name: text(1, 512), value: text(1, 512) }), { min: 1, max: 100 })),
      provideClusterInfo: optional(flag()),
    }),
  ),
});

/** kubeadm's JoinConfiguration: for every other machine. */
export const joinConfiguration = object({
  caCertPath: optional(text(1, 512)),
  controlPlane: optional(object({ localAPIEndpoint })),
  discovery: optional(
    object({
      bootstrapToken: optional(
        object({
          apiServerEndpoint: optional(text(1, 512)),
          caCertHashes: names(512),
          token: optional(text(1, 512)),
          unsafeSkipCAVerification: optional(flag()),
        }),
      ),
      file: optional(
        object({
          kubeConfigPath: text(1, 512),
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
              user: kubeConfigUser,
            }),
          ),
        }),
      ),
      tlsBootstrapToken: optional(text(1, 512)),
    }),
  ),
  nodeRegistration,
  patches,
  skipPhases,
  timeouts,
});
