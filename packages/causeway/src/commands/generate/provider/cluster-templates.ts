/**
 * What `clusterctl generate cluster` makes clusters on OpenStack from: the flavours of upstream's release under their
 * names, with a ClusterClass. Texts such as ${CLUSTER_NAME} are clusterctl's variables; those with := have a default.
 */

const group = "cluster.x-k8s.io";
const core = `${group}/v1beta2`;
const bootstrap = `bootstrap.${group}`;
const controlPlane = `controlplane.${group}`;
const infrastructure = `infrastructure.${group}`;

type Fields = Readonly<Record<string, unknown>>;

const object = (apiVersion: string, kind: string, name: string, spec: Fields) => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

/** cloud-init fills in what only the server knows. */
const registration = {
  nodeRegistration: {
    kubeletExtraArgs: [
      { name: "cloud-provider", value: "external" },
      { name: "provider-id", value: "openstack:///'{{ instance_id }}'" },
    ],
    name: "{{ local_hostname }}",
  },
};
const kubeadmConfigSpec = {
  clusterConfiguration: { controllerManager: { extraArgs: [{ name: "cloud-provider", value: "external" }] } },
  initConfiguration: registration,
  joinConfiguration: registration,
};

/** Security groups for Calico. */
const calico = {
  clusterNodesSecurityGroupRules: [
    { name: "BGP (Calico)", description: "BGP (Calico)", protocol: "tcp", portRangeMin: 179, portRangeMax: 179 },
    { name: "IP-in-IP (Calico)", description: "IP-in-IP (Calico)", protocol: "4" },
  ].map((rule) => ({
    ...rule,
    direction: "ingress",
    etherType: "IPv4",
    remoteManagedGroups: ["controlplane", "worker"],
  })),
};
const subnets = [{ cidr: "10.6.0.0/24", dnsNameservers: ["${OPENSTACK_DNS_NAMESERVERS:=9.9.9.9}"] }];
const loadBalancer = { managedLoadBalancer: { enabled: true } };

const machine = (flavor: string): Fields => ({
  flavor: { filter: { name: flavor } },
  image: { filter: { name: "${OPENSTACK_IMAGE_NAME}" } },
  sshKeyName: "${OPENSTACK_SSH_KEY_NAME}",
});
const controlPlaneFlavor = "${OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR}";
const nodeFlavor = "${OPENSTACK_NODE_MACHINE_FLAVOR}";

const credentials = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "${CLUSTER_NAME}-cloud-config", labels: { "clusterctl.cluster.x-k8s.io/move": "true" } },
  data: { "clouds.yaml": "${OPENSTACK_CLOUD_YAML_B64}", cacert: "${OPENSTACK_CLOUD_CACERT_B64}" },
};

const reference = (apiGroup: string, kind: string, name: string) => ({ apiGroup, kind, name });
const template = (kind: string, name: string) => ({ apiVersion: `${infrastructure}/v1beta2`, kind, name });

interface Flavour {
  readonly apiServer: Fields;
  readonly bastion?: Fields;
  /** Without: as many as the variable says. */
  readonly controlPlanes?: number;
  /** Control planes without machines, by `causeway up`. */
  readonly hosted?: true;
}

function cluster({ apiServer, bastion, controlPlanes, hosted }: Flavour): object[] {
  const name = "${CLUSTER_NAME}";
  const workers = `${name}-md-0`;
  const front = `${name}-control-plane`;
  const openStackCluster = {
    apiServer,
    ...(bastion ? { bastion } : {}),
    externalNetwork: { id: "${OPENSTACK_EXTERNAL_NETWORK_ID}" },
    identityRef: { cloudName: "${OPENSTACK_CLOUD}", name: `${name}-cloud-config` },
    managedSecurityGroups: calico,
    managedSubnets: subnets,
  };
  const version = "${KUBERNETES_VERSION}";
  const machines = {
    kubeadmConfigSpec,
    machineTemplate: { spec: { infrastructureRef: reference(infrastructure, "OpenStackMachineTemplate", front) } },
    replicas: controlPlanes ?? "${CONTROL_PLANE_MACHINE_COUNT}",
    version,
  };
  const frontKind = hosted ? "HostedControlPlane" : "KubeadmControlPlane";
  return [
    credentials,
    object(core, "Cluster", name, {
      clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] }, serviceDomain: "cluster.local" },
      controlPlaneRef: reference(controlPlane, frontKind, front),
      infrastructureRef: reference(infrastructure, "OpenStackCluster", name),
    }),
    object(`${infrastructure}/v1beta2`, "OpenStackCluster", name, openStackCluster),
    ...(hosted
      ? [object(`${controlPlane}/v1alpha1`, frontKind, front, { version })]
      : [
          object(`${controlPlane}/v1beta2`, frontKind, front, machines),
          object(`${infrastructure}/v1beta2`, "OpenStackMachineTemplate", front, {
            template: { spec: machine(controlPlaneFlavor) },
          }),
        ]),
    object(core, "MachineDeployment", workers, {
      clusterName: name,
      replicas: "${WORKER_MACHINE_COUNT}",
      template: {
        spec: {
          bootstrap: { configRef: reference(bootstrap, "KubeadmConfigTemplate", workers) },
          clusterName: name,
          failureDomain: "${OPENSTACK_FAILURE_DOMAIN:=nova}",
          infrastructureRef: reference(infrastructure, "OpenStackMachineTemplate", workers),
          version,
        },
      },
    }),
    object(`${infrastructure}/v1beta2`, "OpenStackMachineTemplate", workers, {
      template: { spec: machine(nodeFlavor) },
    }),
    object(`${bootstrap}/v1beta2`, "KubeadmConfigTemplate", workers, {
      template: { spec: { joinConfiguration: registration } },
    }),
  ];
}

const variable = (name: string, openAPIV3Schema: Fields, required = false) => ({
  name,
  required,
  schema: { openAPIV3Schema },
});
const ofVariable = (op: "add" | "replace", path: string, name: string) => ({ op, path, valueFrom: { variable: name } });

interface Target {
  readonly kind: string;
  readonly matchResources: Fields;
}

function patch(name: string, target: Target, operation: Fields, enabledIf?: string): object {
  const selector = { apiVersion: `${infrastructure}/v1beta2`, ...target };
  const definitions = [{ selector, jsonPatches: [operation] }];
  return { name, ...(enabledIf === undefined ? {} : { enabledIf }), definitions };
}

const machineTarget = (matchResources: Fields): Target => ({ kind: "OpenStackMachineTemplate", matchResources });
const everyMachine = machineTarget({ controlPlane: true, machineDeploymentClass: { names: ["*"] } });
const workersOnly = machineTarget({ machineDeploymentClass: { names: ["*"] } });
const ofCluster: Target = { kind: "OpenStackClusterTemplate", matchResources: { infrastructureCluster: true } };

/** The class "openstack": its variables are what the other flavours leave to variables of clusterctl. */
const clusterClass = object(core, "ClusterClass", "openstack", {
  infrastructure: { templateRef: template("OpenStackClusterTemplate", "openstack-cluster") },
  controlPlane: {
    templateRef: {
      apiVersion: `${controlPlane}/v1beta2`,
      kind: "KubeadmControlPlaneTemplate",
      name: "openstack-control-plane",
    },
    machineInfrastructure: { templateRef: template("OpenStackMachineTemplate", "openstack-control-plane") },
  },
  workers: {
    machineDeployments: [
      {
        class: "default-worker",
        bootstrap: {
          templateRef: {
            apiVersion: `${bootstrap}/v1beta2`,
            kind: "KubeadmConfigTemplate",
            name: "openstack-default-worker",
          },
        },
        infrastructure: { templateRef: template("OpenStackMachineTemplate", "openstack-default-worker") },
      },
    ],
  },
  variables: [
    variable(
      "identityRef",
      {
        type: "object",
        required: ["name", "cloudName"],
        properties: { name: { type: "string" }, cloudName: { type: "string" } },
      },
      true,
    ),
    variable("externalNetwork", { type: "string", description: "Name of the external network." }, true),
    variable("imageName", { type: "string", description: "Name of the image of all machines." }, true),
    variable("controlPlaneFlavor", { type: "string" }, true),
    variable("workerFlavor", { type: "string" }, true),
    variable("sshKeyName", { type: "string", default: "" }),
    variable("allowedCIDRs", { type: "array", items: { type: "string", format: "cidr" }, default: [] }),
    variable("bastionFlavor", { type: "string", default: "", description: "Of a bastion; empty: there is none." }),
  ],
  patches: [
    patch("identityRef", ofCluster, ofVariable("add", "/spec/template/spec/identityRef", "identityRef")),
    patch(
      "externalNetwork",
      ofCluster,
      ofVariable("replace", "/spec/template/spec/externalNetwork/filter/name", "externalNetwork"),
    ),
    patch(
      "allowedCIDRs",
      ofCluster,
      ofVariable("add", "/spec/template/spec/apiServer/managedLoadBalancer/allowedCIDRs", "allowedCIDRs"),
      "{{ if .allowedCIDRs }}true{{ end }}",
    ),
    patch(
      "bastion",
      ofCluster,
      {
        op: "add",
        path: "/spec/template/spec/bastion",
        valueFrom: {
          template:
            'enabled: true\nspec:\n  flavor: {filter: {name: "{{ .bastionFlavor }}"}}\n  image: {filter: {name: "{{ .imageName }}"}}\n',
        },
      },
      "{{ if .bastionFlavor }}true{{ end }}",
    ),
    patch("imageName", everyMachine, ofVariable("replace", "/spec/template/spec/image/filter/name", "imageName")),
    patch(
      "sshKeyName",
      everyMachine,
      ofVariable("add", "/spec/template/spec/sshKeyName", "sshKeyName"),
      "{{ if .sshKeyName }}true{{ end }}",
    ),
    patch(
      "controlPlaneFlavor",
      machineTarget({ controlPlane: true }),
      ofVariable("replace", "/spec/template/spec/flavor/filter/name", "controlPlaneFlavor"),
    ),
    patch("workerFlavor", workersOnly, ofVariable("replace", "/spec/template/spec/flavor/filter/name", "workerFlavor")),
  ],
});

const chosen = {
  flavor: { filter: { name: "chosen-by-variable" } },
  image: { filter: { name: "chosen-by-variable" } },
};

const classTemplates = [
  object(`${infrastructure}/v1beta2`, "OpenStackClusterTemplate", "openstack-cluster", {
    template: {
      spec: {
        apiServer: loadBalancer,
        externalNetwork: { filter: { name: "chosen-by-variable" } },
        identityRef: { cloudName: "chosen-by-variable", name: "chosen-by-variable" },
        managedSecurityGroups: calico,
        managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
      },
    },
  }),
  object(`${controlPlane}/v1beta2`, "KubeadmControlPlaneTemplate", "openstack-control-plane", {
    template: { spec: { kubeadmConfigSpec } },
  }),
  object(`${bootstrap}/v1beta2`, "KubeadmConfigTemplate", "openstack-default-worker", {
    template: { spec: { joinConfiguration: registration } },
  }),
  ...["openstack-control-plane", "openstack-default-worker"].map((name) =>
    object(`${infrastructure}/v1beta2`, "OpenStackMachineTemplate", name, { template: { spec: chosen } }),
  ),
];

const topology = object(core, "Cluster", "${CLUSTER_NAME}", {
  clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] }, serviceDomain: "cluster.local" },
  topology: {
    classRef: { name: "openstack" },
    version: "${KUBERNETES_VERSION}",
    controlPlane: { replicas: "${CONTROL_PLANE_MACHINE_COUNT}" },
    variables: [
      { name: "identityRef", value: { cloudName: "${OPENSTACK_CLOUD}", name: "${CLUSTER_NAME}-cloud-config" } },
      { name: "externalNetwork", value: "${OPENSTACK_EXTERNAL_NETWORK_NAME:=public}" },
      { name: "imageName", value: "${OPENSTACK_IMAGE_NAME}" },
      { name: "controlPlaneFlavor", value: controlPlaneFlavor },
      { name: "workerFlavor", value: nodeFlavor },
    ],
    workers: { machineDeployments: [{ class: "default-worker", name: "md-0", replicas: "${WORKER_MACHINE_COUNT}" }] },
  },
});

const bastion = { enabled: true, spec: machine("${OPENSTACK_BASTION_MACHINE_FLAVOR}") };

/** The files of a release, next to its components. */
export const clusterTemplates: Readonly<Record<string, readonly object[]>> = {
  "cluster-template.yaml": cluster({ apiServer: loadBalancer }),
  "cluster-template-without-lb.yaml": cluster({ apiServer: {}, controlPlanes: 1 }),
  "cluster-template-bastion.yaml": cluster({ apiServer: loadBalancer, bastion }),
  "cluster-template-hosted.yaml": cluster({ apiServer: { enableFloatingIP: false }, hosted: true }),
  "cluster-template-topology.yaml": [credentials, topology],
  "clusterclass-openstack.yaml": [clusterClass, ...classTemplates],
};
