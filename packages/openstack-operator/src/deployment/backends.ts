import type { Component, BackendOperator } from "../model/component.ts";
import { objectName } from "../render/context.ts";
import { PerconaXtraDBCluster, RabbitmqCluster } from "../render/optional-types.ts";
import type { Observed } from "./gather.ts";

/** Who runs each cluster of databases and brokers: the operator of others that the specification names, or we. */
export interface BackendChoice {
  readonly operators: Readonly<Record<string, BackendOperator>>;
  /** What is requested would begin with empty databases, or cannot be run. */
  readonly refusal?: string;
}

const KINDS = {
  percona: {
    kind: PerconaXtraDBCluster.kind,
    name: "Percona's operator",
    crd: "perconaxtradbclusters.pxc.percona.com",
  },
  rabbitmq: { kind: RabbitmqCluster.kind, name: "RabbitMQ's cluster operator", crd: "rabbitmqclusters.rabbitmq.com" },
} as const;

/**
 * A cluster that exists remains with what runs it. What that is the objects say, and the status where the CRD of the
 * other operator is gone.
 */
export function chooseBackends(observed: Observed, components: readonly Component[]): BackendChoice {
  const operators: Record<string, BackendOperator> = {};
  for (const component of components) {
    const { name, service, kind } = component;
    if (kind !== "StatefulSet" || (service !== "mariadb" && service !== "rabbitmq")) continue;
    const operator = service === "mariadb" ? "percona" : "rabbitmq";
    const found = runsAs(observed, name, operator);
    const wanted = observed.deployment.spec.operators?.[operator]?.use;
    const isServed = observed.served.has(KINDS[operator].kind);
    const isTheirs =
      found === "theirs" || (found === undefined && (wanted === "Always" || (wanted === "Auto" && isServed)));
    const refusal = refusalOf(name, operator, { found, wanted, isServed, isTheirs });
    if (refusal !== undefined) return { operators, refusal };
    if (isTheirs) operators[name] = operator;
  }
  return { operators };
}

/** Which of both runs the cluster now; undefined: it does not exist. */
function runsAs({ deployment, objects, claims }: Observed, name: string, operator: BackendOperator) {
  const full = objectName(deployment.metadata.name, name);
  const before = deployment.status?.components?.find((each) => each.name === name);
  // Volumes of an earlier deployment of this name are used again.
  if (objects.has(`StatefulSet/${full}`) || claims.has(name)) return "ours" as const;
  return objects.has(`${KINDS[operator].kind}/${full}`) || before?.kind === "External"
    ? ("theirs" as const)
    : undefined;
}

interface Facts {
  readonly found: "ours" | "theirs" | undefined;
  readonly wanted: "Auto" | "Always" | undefined;
  readonly isServed: boolean;
  readonly isTheirs: boolean;
}

const HOW =
  "No data is moved between them: set the field back; or make a backup (spec.backup), delete the deployment, and create it under another name with spec.restore and the other choice";

function refusalOf(name: string, operator: BackendOperator, { found, wanted, isServed, isTheirs }: Facts) {
  const { kind, name: who, crd } = KINDS[operator];
  const field = `spec.operators.${operator}`;
  if (found === "ours" && wanted === "Always")
    return `${field}: ${name} runs as a StatefulSet, and its data is in that one's volumes. ${HOW}`;
  if (found === "theirs" && wanted === undefined)
    return `${field} was removed, and ${name} is a ${kind}, whose volumes have its data. ${HOW}`;
  if (isTheirs && !isServed)
    return `${field}: ${who} is not installed: the cluster has no CRD ${crd}. Install it${found === "theirs" ? "; what runs is not changed" : ", or remove the field"}`;
  return undefined;
}
