import type { OpenStackRelease, OpenStackService } from "@causeway/api";

/**
 * What each process of a cloud is and needs. Everything else (pods, Jobs, Services, policies, budgets, order, docs)
 * derives from it.
 */

/** External: an object of another operator, which runs it. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "External";

/** Operators of others. */
export type BackendOperator = "percona" | "rabbitmq";

/** Which nodes a component runs on. */
export type Placement = "Control" | "Compute" | "Network" | "Host";

/** A port that a component listens on. */
export interface Port {
  readonly name: string;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
  /** Users of the cloud reach it; with the name of its endpoint: identity.DOMAIN. */
  readonly publicName?: string;
  /** Pods of the same component talk to each other on it. */
  readonly peers?: true;
  /** An API: it is served over TLS where the deployment has that. */
  readonly tls?: true;
}

/** A connection that the component opens, to a port of another component. */
export interface Connection {
  readonly to: string;
  readonly port: string;
  /** Needed before the process starts. False: it starts without, and uses it later. */
  readonly needed: boolean;
}

/** The decisive question that the prober asks the process. */
export type Probe =
  | {
      readonly ask: "http";
      readonly path: string;
      readonly port: string;
      /** The name that is requested, where a process responds to some names alone. */
      readonly host?: string;
    }
  | { readonly ask: "rpc"; readonly topic: string }
  | { readonly ask: "unixctl"; readonly socket: string; readonly command: string; readonly expect?: string }
  | {
      readonly ask: "command";
      readonly command: readonly string[];
      /** What liveness asks instead. */
      readonly alive?: readonly string[];
    }
  | { readonly ask: "tcp"; readonly port: string };

/** How long the process takes to stop: an option of its own, or a number of seconds. */
export type Grace =
  | { readonly option: { readonly section: string; readonly name: string; readonly fallback: number } }
  | { readonly seconds: number };

/** A folder of the host that a component mounts. */
export interface HostPath {
  readonly path: string;
  readonly readOnly?: true;
  /** Mounts that the container makes are seen by the host. */
  readonly bidirectional?: true;
}

/** What a component needs of its host beyond Pod Security "restricted", and why. */
export interface HostNeeds {
  readonly reason: string;
  readonly network?: true;
  readonly pid?: true;
  readonly privileged?: true;
  readonly root?: true;
  readonly capabilities?: readonly string[];
  readonly paths?: readonly HostPath[];
}

/** What may be lost at once. */
export type Quorum = "Any" | "Majority";

/** What an account of a service is for. */
export type CredentialUse =
  /** An account in the databases of the service. */
  | "database"
  /** An account of the message broker. */
  | "broker"
  /** A user of Keystone. */
  | "identity";

/** A program that reports a component's metrics, in a container next to it. */
export interface Exporter {
  readonly image: string;
  readonly command: readonly string[];
  readonly port: number;
  /** Files of the ConfigMap of programs that it needs in addition to the component's own. */
  readonly programs?: readonly string[];
  /** Where the sockets of the process are: a folder of the host, or one of its scratch. */
  readonly sockets?: string;
}

/** A process in the pod of another one, which it serves by sockets of a folder that both have. */
export interface Companion {
  readonly name: string;
  readonly command: readonly string[];
  /** Ends with 0 once it serves: the main process starts after that. */
  readonly ready: readonly string[];
  readonly resources: { readonly cpu: string; readonly memory: string };
}

/** A process of the cloud, or a Job: what it runs, what it needs, and how it is probed and stopped. */
export interface Component {
  readonly name: string;
  readonly service: OpenStackService;
  readonly kind: WorkloadKind;
  /** Who runs it, where its kind is External. */
  readonly operator?: BackendOperator;
  /** Name of the image below the registry. */
  readonly image: string;
  readonly command: readonly string[];
  /** Its command in releases before that one. */
  readonly earlier?: { readonly before: OpenStackRelease; readonly command: readonly string[] };
  /** The first release that has it: before, another component does its work. */
  readonly since?: OpenStackRelease;
  /** Variables of its environment, in addition to those that all have. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly placement: Placement;
  readonly scale: "Api" | "Worker" | "Quorum" | "One" | "Node";
  readonly ports?: readonly Port[];
  readonly connections?: readonly Connection[];
  /** Components, mostly Jobs, that must be done before. */
  readonly after?: readonly string[];
  /** Components whose pod on the same node must be up, with the socket that shows it. */
  readonly sameNode?: readonly { readonly component: string; readonly socket: string }[];
  /** Services whose configuration files it reads. The first is its own. */
  readonly configuration?: readonly OpenStackService[];
  /** Sections of its service's configuration that its pods do not have: who takes a host over must not get them. */
  readonly lacks?: readonly string[];
  /** The cell of Nova that it works for alone, with that cell's own connections and on its compute nodes. */
  readonly cell?: string;
  /** Further cells of Nova, of which it learns when it starts. */
  readonly cells?: readonly string[];
  /** Keys of the credentials that are mounted as files, in addition to those in its configuration. */
  readonly secrets?: readonly string[];
  /** It does not start without /etc/SERVICE/SERVICE.conf, although it reads the folder next to it. */
  readonly demandsMainFile?: true;
  /** Programs of ours that are mounted: files of the ConfigMap of programs. */
  readonly programs?: readonly string[];
  readonly probe?: Probe;
  /** A program next to the process that reports its metrics, where the process has none of its own. */
  readonly exporter?: Exporter;
  readonly companion?: Companion;
  readonly grace: Grace;
  /**
   * A program of ours that waits, before its process is requested to stop, for what that would break off; at most as
   * long as the process itself may take.
   */
  readonly settles?: string;
  readonly quorum?: Quorum;
  /** It checks the nodes: one that is up and fails holds back what comes after. */
  readonly gate?: true;
  /** What comes after it waits until it serves on every node that is up, not only on the first. */
  readonly everyNode?: true;
  readonly host?: HostNeeds;
  /** Ports of servers outside of the deployment that it reaches, wherever these are. */
  readonly outside?: readonly Pick<Port, "port" | "protocol">[];
  /** It pings floating IPs of the deployment's canary network. */
  readonly pings?: true;
  /**
   * A command that prepares the volume of a new pod before its process starts, and says in its termination message
   * which data there is.
   */
  readonly prepares?: readonly string[];
  /** A volume of each pod. */
  readonly volume?: { readonly mountPath: string; readonly size: "database" | "broker" | "ovn" };
  /** Where the process writes and no volume is. */
  readonly scratch?: readonly string[];
  /** Jobs: databases whose schema it makes. One whose first migration was cut off is emptied before. */
  readonly schemas?: readonly string[];
  /** Jobs: each attempt is a pod of its own, which remains with what it said when the Job has failed. */
  readonly lastWords?: true;
  /** Jobs: what makes them run again, in addition to image, command and configuration. */
  readonly rerunWith?: readonly string[];
  /** It writes a backup of the deployment, or reads the one that the deployment is restored from. */
  readonly vault?: "backup" | "restore";
  /** A Job that runs when its time has come, and not once for each change of what it depends on. */
  readonly runs?: "backup";
  /** A Secret of the deployment that its pod may read and change through the Kubernetes API, and nothing else. */
  readonly writesSecret?: string;
  /** Requests of a pod. */
  readonly resources: { readonly cpu: string; readonly memory: string };
  readonly uid: number;
  /** What it does, in a sentence for the reference page. */
  readonly does: string;
}
