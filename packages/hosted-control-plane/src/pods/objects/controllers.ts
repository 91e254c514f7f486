import type { Deployment, KubeObject } from "@causeway/kubernetes";
import { flagArgs } from "../../flags.ts";
import type { ControlPlaneSpec } from "../../runtime.ts";
import type { Images } from "../images.ts";
import type { Resources, Size } from "../sizes.ts";
import { namedMeta, selectorOf } from "./meta.ts";
import { podAddress, podTemplate } from "./pod.ts";

/** What the objects of the controllers are made from. */
export interface ControllersFrom {
  readonly spec: ControlPlaneSpec;
  readonly namespace: string;
  readonly version: string;
  readonly images: Images;
  readonly size: Size;
  readonly replicas: number;
  /** Digests of the programs' Secrets, by their names. */
  readonly credentials: Readonly<Record<string, string>>;
}

const DIR = "/etc/kubernetes/credentials";

/** kube-controller-manager and kube-scheduler. One of their replicas leads. */
export function controllerObjects(from: ControllersFrom): KubeObject[] {
  const { images, size } = from;
  const manager = { image: images.controllerManager, resources: size.controllerManager, port: 10_257 };
  const scheduler = { image: images.scheduler, resources: size.scheduler, port: 10_259 };
  return [
    deployment(from, "kube-controller-manager", {
      ...manager,
      command: ["kube-controller-manager", ...clientArgs(manager.port), ...managerArgs(from)],
    }),
    deployment(from, "kube-scheduler", {
      ...scheduler,
      command: ["kube-scheduler", ...clientArgs(scheduler.port)],
    }),
  ];
}

/** Nodes, routes and load balancers of the tenant, with credentials of the cloud that the tenant does not see. */
export function cloudControllerObjects(from: ControllersFrom, image: string): KubeObject[] {
  const [port, name] = [10_258, "cloud-controller-manager"];
  const command = [
    "causeway",
    "run",
    name,
    `--kubeconfig=${DIR}/kubeconfig`,
    `--cloud-config=${DIR}/cloud.conf`,
    `--cluster-name=${from.spec.id.slice(from.spec.id.indexOf(".") + 1)}`,
    `--bind-address=${podAddress}`,
    `--secure-port=${port}`,
  ];
  return [deployment(from, name, { image, resources: from.size.cloud, port, command })];
}

function clientArgs(port: number): string[] {
  const kubeconfig = `${DIR}/kubeconfig`;
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--bind-address=${podAddress}`,
    `--secure-port=${port}`,
    "--leader-elect=true",
    "--profiling=false",
  ];
}

function managerArgs({ spec }: ControllersFrom): string[] {
  return [
    `--cluster-signing-cert-file=${DIR}/signing-ca.crt`,
    `--cluster-signing-key-file=${DIR}/ca.key`,
    "--controllers=*,bootstrapsigner,tokencleaner",
    `--root-ca-file=${DIR}/ca.crt`,
    `--service-account-private-key-file=${DIR}/sa.key`,
    `--service-cluster-ip-range=${spec.serviceCidr}`,
    "--use-service-account-credentials=true",
    ...(spec.podCidr === undefined ? [] : ["--allocate-node-cidrs=true", `--cluster-cidr=${spec.podCidr}`]),
    ...flagArgs("controllerManager", spec.flags),
  ];
}

interface Program {
  readonly image: string;
  readonly resources: Resources;
  readonly port: number;
  readonly command: readonly string[];
}

function deployment(from: ControllersFrom, name: string, program: Program): Deployment {
  const { namespace, replicas, version, credentials } = from;
  const probe = { path: "/healthz", port: program.port, scheme: "HTTPS" } as const;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: namedMeta(namespace, name, name),
    spec: {
      // A second one takes over from the first; more would only wait.
      replicas: Math.min(replicas, 2),
      selector: selectorOf(name),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      template: podTemplate({
        component: name,
        version,
        image: program.image,
        command: program.command,
        resources: program.resources,
        credentials: credentials[name] ?? "",
        mounts: [{ name: "credentials", path: DIR, secret: name }],
        ports: { https: program.port },
        live: probe,
        ready: probe,
        grace: 15,
      }),
    },
  } as Deployment;
}
