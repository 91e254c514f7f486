import type { Cluster } from "@causeway/api";
import { fingerprint } from "../objects/names.ts";
import type { Desired } from "./desired.ts";
import { idOf, type Difference } from "./model.ts";
import type { MadeObject } from "./made-objects.ts";
import { templateName } from "./names.ts";
import type { DesiredWorkers } from "./workers.ts";

/**
 * Templates are not changed: where the spec of one must, another takes its place. Its name comes from its content, so
 * that an interrupted rotation finds the template that it made, and a return to an earlier content finds that of then.
 */
export function withRotations(
  cluster: Cluster,
  desired: Desired,
  differences: ReadonlyMap<string, Difference>,
): Desired {
  const isChanged = (made: MadeObject) => differences.get(idOf(made.kind, made.object))?.spec === true;
  const { controlPlane } = desired;
  const machine = controlPlane.machineTemplate;
  return {
    ...desired,
    controlPlane: machine && isChanged(machine) ? rotatedControlPlane(cluster, desired) : controlPlane,
    workers: desired.workers.map((one) => rotatedWorkers(cluster, one, isChanged)),
  };
}

function renamed(
  cluster: Cluster,
  made: MadeObject,
  name: { readonly prefix: string; readonly role: string },
): MadeObject {
  const before = made.object.metadata.name;
  const of = (content: string) => templateName(cluster, name.prefix, name.role, content);
  const content = fingerprint(made.object.spec);
  // The template that has this content's name was changed in place.
  const fresh = of(content) === before ? of(`${content}/restored`) : of(content);
  return { ...made, object: { ...made.object, metadata: { ...made.object.metadata, name: fresh } } };
}

function rotatedControlPlane(cluster: Cluster, { controlPlane }: Desired): Desired["controlPlane"] {
  const { machineTemplate, object } = controlPlane;
  if (!machineTemplate) return controlPlane;
  const fresh = renamed(cluster, machineTemplate, { prefix: cluster.metadata.name, role: "control-plane-machine" });
  const machines = object.object.spec["machineTemplate"] as { readonly spec: { readonly infrastructureRef: object } };
  const infrastructureRef = { ...machines.spec.infrastructureRef, name: fresh.object.metadata.name };
  const spec = {
    ...object.object.spec,
    machineTemplate: { ...machines, spec: { ...machines.spec, infrastructureRef } },
  };
  return { ...controlPlane, machineTemplate: fresh, object: { ...object, object: { ...object.object, spec } } };
}

function rotatedWorkers(
  cluster: Cluster,
  workers: DesiredWorkers,
  isChanged: (made: MadeObject) => boolean,
): DesiredWorkers {
  const { topologyName, deployment } = workers;
  const prefix = `${cluster.metadata.name}-${topologyName}`;
  const rotate = (made: MadeObject, role: string) =>
    isChanged(made) ? renamed(cluster, made, { prefix, role: `${topologyName}/${role}` }) : made;
  const bootstrap = rotate(workers.bootstrap, "bootstrap");
  const infrastructure = rotate(workers.infrastructure, "infrastructure");
  if (bootstrap === workers.bootstrap && infrastructure === workers.infrastructure) return workers;
  const { template } = deployment.object.spec as {
    readonly template: { readonly spec: { bootstrap: { configRef: object }; infrastructureRef: object } };
  };
  const spec = {
    ...deployment.object.spec,
    template: {
      ...template,
      spec: {
        ...template.spec,
        bootstrap: { configRef: { ...template.spec.bootstrap.configRef, name: bootstrap.object.metadata.name } },
        infrastructureRef: { ...template.spec.infrastructureRef, name: infrastructure.object.metadata.name },
      },
    },
  };
  return {
    ...workers,
    bootstrap,
    infrastructure,
    deployment: { ...deployment, object: { ...deployment.object, spec } },
  };
}
