/** The Helm charts, with the options that `npm run test:charts` turns on and the rights that it expects. */
import { createHash } from "node:crypto";
import type { Rights } from "./install.ts";

/** Begins an option whose value is text, also where it looks like another type. */
export const TEXT = "text: ";

export interface Chart {
  readonly name: string;
  /** The folder below deploy whose manifests are the same objects, and its namespace. Default: kube-system. */
  readonly plain?: string;
  /** Files of that folder that the chart has with options only. */
  readonly optional?: readonly string[];
  readonly namespace?: string;
  /** Values without which nothing is rendered. */
  readonly needed?: readonly string[];
  /** Values that turn every option on, and kinds that they add. */
  readonly options: readonly string[];
  readonly kinds: readonly string[];
  /** Texts of the objects, as JSON, that the options add. */
  readonly texts?: readonly string[];
  /** Texts of the objects, as JSON, that the options take away. */
  readonly absent?: readonly string[];
  /** Options for which a cluster needs no CRD of others. */
  readonly upgrade: readonly string[];
  readonly rights: readonly Rights[];
  /** Its rights are on resources of deploy/crds. */
  readonly crds?: boolean;
}

const CERTIFICATE = "-----BEGIN CERTIFICATE-----";

/** A Secret's file for the control plane's program. */
const backupKey: readonly string[] = [
  "extraVolumes[0].name=backup-key",
  "extraVolumes[0].secret.secretName=backup-key",
  "extraVolumeMounts[0].name=backup-key",
  "extraVolumeMounts[0].mountPath=/etc/backup",
  "extraVolumeMounts[0].readOnly=true",
];

export const everyChart: readonly Chart[] = [
  {
    name: "cloud-controller-manager",
    needed: ["cloudConfig=[Global]"],
    options: ["serviceMonitor.enabled=true", "clusterCIDR=10.244.0.0/16"],
    kinds: ["ServiceMonitor"],
    upgrade: ["clusterCIDR=10.244.0.0/16", "replicas=3"],
    rights: [
      {
        account: "release",
        granted: [
          "patch nodes --subresource=status",
          "patch services --subresource=status",
          "create events",
          "create tokenreviews.authentication.k8s.io",
          "list pods --namespace kube-system",
        ],
        refused: [
          "list secrets",
          "list pods",
          "get pods",
          "create services",
          "patch clusterroles.rbac.authorization.k8s.io",
        ],
      },
    ],
  },
  {
    name: "cinder-csi",
    plain: "cinder-csi",
    options: [
      "storageCapacity=true",
      "pvcAnnotations=true",
      "csi.snapshotter.groupSnapshots=true",
      "secret.create=true",
      "secret.data=[Global]",
      "clouds.names={a,b}",
      "clouds.secrets={cloud-b}",
      // Values of upstream's chart.
      "csi.attacher.image.repository=registry.example.com/csi-attacher",
      "csi.attacher.image.tag=v4.12.0",
      "csi.attacher.image.pullPolicy=Always",
      "text: csi.provisioner.topology=true",
      "storageClass.delete.isDefault=true",
      "controllerPlugin.priorityClassName=system-cluster-critical",
      "volumeSnapshotClasses[0].name=snap",
      "volumeGroupSnapshotClasses[0].name=group",
      "volumeGroupSnapshotClasses[0].parameters.group-type=consistent",
    ],
    kinds: ["Secret", "VolumeSnapshotClass", "VolumeGroupSnapshotClass"],
    texts: [
      '"--cloud-name=b"',
      '"resources":["secrets"],"resourceNames":["cloud-b"],"verbs":["get"]',
      '"image":"registry.example.com/csi-attacher:v4.12.0","imagePullPolicy":"Always"',
      '"--feature-gates=Topology=true"',
    ],
    upgrade: ["storageClass.delete.isDefault=true", "pvcAnnotations=true"],
    rights: [
      {
        account: "csi-cinder-controller-sa",
        granted: ["create persistentvolumes", "patch volumeattachments.storage.k8s.io --subresource=status"],
        refused: ["list secrets", "create pods", "delete nodes"],
      },
      { account: "csi-cinder-node-sa", granted: [], refused: ["get nodes", "list secrets", "list persistentvolumes"] },
    ],
  },
  {
    name: "manila-csi",
    plain: "manila-csi",
    options: [
      "protocol=CEPHFS",
      "topologyAwarenessEnabled=true",
      "runtimeConfig=text",
      "volumeSnapshotClasses[0].name=snap",
    ],
    kinds: ["ConfigMap", "VolumeSnapshotClass"],
    upgrade: ["topologyAwarenessEnabled=true", "runtimeConfig=text"],
    rights: [
      {
        account: "openstack-manila-csi-controllerplugin",
        granted: ["create persistentvolumes"],
        refused: ["create pods", "delete nodes", "create secrets"],
      },
      { account: "openstack-manila-csi-nodeplugin", granted: [], refused: ["list secrets", "list nodes"] },
    ],
  },
  {
    name: "magnum-api",
    plain: "magnum-api",
    namespace: "causeway-system",
    crds: true,
    needed: ["keystone.url=https://identity.example.org/v3"],
    options: [
      "text: keystone.ca=-----BEGIN CERTIFICATE-----",
      "region=RegionOne",
      "publicUrl=https://magnum.example.org:9511",
      "tls.certificate=certificate",
      "tls.key=key",
      "policy.certificate:create=rule:admin_or_project_member",
      "auditUrl=https://audit.example.org/events",
      "controlPlaneRuntime=Pods",
      "managementCIDRs={192.0.2.0/24,198.51.100.0/24}",
      "rate=20",
      "limits.nodes=200",
      "trustees.domain=clusters",
      "trustees.roles={member,load-balancer_member}",
      "text: trustees.cloudsYaml=clouds: {}",
      "csiImage=registry.example.com/causeway:1",
      "podNetwork=routes",
      "probeKubelets=always",
      "service.type=LoadBalancer",
      "serviceMonitor.enabled=true",
    ],
    kinds: ["ConfigMap", "Secret", "ServiceMonitor"],
    texts: [
      '"--keystone-ca-file=/etc/magnum-api/config/keystone-ca.crt"',
      '"--policy-file=/etc/magnum-api/config/policy.yaml"',
      '"--management-cidrs=192.0.2.0/24,198.51.100.0/24"',
      '"--rate=20"',
      '"--max-nodes=200"',
      '"secretName":"magnum-api-serving"',
      '"--trustee-cloud=magnum","--trustee-domain=clusters","--trustee-roles=member,load-balancer_member"',
      '"name":"OS_CLIENT_CONFIG_FILE","value":"/etc/magnum-api/cloud/clouds.yaml"',
      '"secretName":"magnum-api-trustees"',
      '"--pod-network=routes","--csi-image=registry.example.com/causeway:1","--probe-kubelets=always"',
    ],
    upgrade: ["rate=20", "replicas=3", "tls.certificate=certificate", "tls.key=key"],
    rights: [
      {
        account: "magnum-api",
        granted: [
          "create magnumclusters.magnum.causeway.dev",
          "patch magnumclusters.magnum.causeway.dev --subresource=status",
          "create namespaces",
          "patch hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "update secrets",
          "get namespaces/kube-system",
        ],
        refused: [
          "delete secrets",
          "delete namespaces",
          "get namespaces/default",
          "create pods",
          "get pods --subresource=exec",
          "patch magnumquotas.magnum.causeway.dev",
          "delete hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "patch clusterroles.rbac.authorization.k8s.io",
        ],
      },
    ],
  },
  {
    name: "hosted-control-plane",
    plain: "hosted-control-plane",
    optional: ["api-gateway.yaml"],
    namespace: "causeway-system",
    crds: true,
    options: [
      "serviceKubeconfig=causeway-system/service-cluster",
      "owner=region-one",
      "registry=registry.example.com/kubernetes",
      "pool.members=1",
      "pool.storageClass=fast",
      "datastoreMoves=true",
      "limits.size=Medium",
      "limits.replicas=3",
      "limits.storageClasses={fast,slow}",
      "limits.controlPlanes=20",
      "nodeNetworks={10.6.0.0/16,10.7.0.0/16}",
      "oidcNetworks={192.0.2.0/24}",
      "auditNetworks={198.51.100.0/24}",
      "tunnel.url=https://tunnel-server.causeway-system.svc:8090",
      `text: tunnel.ca=${CERTIFICATE}`,
      "gateway.domain=api.example.org",
      "gateway.address=192.0.2.1",
      "shards=64",
      "extraArgs={--backup-cloud=production,--backup-key-file=/etc/backup/key}",
      ...backupKey,
      "serviceMonitor.enabled=true",
    ],
    kinds: ["ConfigMap", "Service", "ServiceMonitor"],
    texts: [
      '"--service-kubeconfig=causeway-system/service-cluster","--owner=region-one"',
      '"--pool-members=1","--pool-storage-class=fast","--datastore-moves","--max-size=Medium","--max-replicas=3"',
      '"--storage-classes=fast,slow","--max-control-planes=20","--node-networks=10.6.0.0/16,10.7.0.0/16"',
      '"--oidc-networks=192.0.2.0/24","--audit-networks=198.51.100.0/24"',
      '"--tunnel-ca-file=/etc/hosted-control-plane/tunnel-ca.crt"',
      '"--gateway-domain=api.example.org","--gateway-namespace=causeway-system","--gateway-address=192.0.2.1"',
      '"--shards=64"',
      `"annotations":{"checksum/config":"${createHash("sha256").update(CERTIFICATE).digest("hex")}"}`,
      '"runAsUser":65532,"runAsGroup":65532,"fsGroup":65532',
      '{"name":"config","mountPath":"/etc/hosted-control-plane","readOnly":true},{"mountPath":"/etc/backup","name":"backup-key","readOnly":true}',
      '{"name":"config","configMap":{"name":"hosted-control-plane"}},{"name":"backup-key","secret":{"secretName":"backup-key"}}',
    ],
    // Control planes are in another cluster than the program then.
    absent: ["causeway:hosted-control-plane:service-cluster"],
    upgrade: ["gateway.domain=api.example.org", "shards=64", "replicas=3", ...backupKey],
    rights: [
      {
        account: "hosted-control-plane",
        granted: [
          "patch hostedcontrolplanes.controlplane.cluster.x-k8s.io --subresource=status",
          "create namespaces",
          "get configmaps",
          "update secrets",
          "create statefulsets.apps",
          "patch networkpolicies.networking.k8s.io",
        ],
        refused: [
          "delete hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "create pods",
          "get pods --subresource=exec",
          "delete persistentvolumeclaims",
          "patch clusters.cluster.x-k8s.io",
          "patch clusterroles.rbac.authorization.k8s.io",
        ],
      },
    ],
  },
];
