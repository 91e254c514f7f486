import type { Container } from "@causeway/kubernetes";
import type { Component } from "../model/component.ts";
import { imageOf, underLines, type Context } from "./context.ts";
import { environmentOf } from "./environment.ts";
import { containerSecurity } from "./security.ts";
import type { Mount } from "./types.ts";

interface Around {
  readonly image: string;
  readonly mounts: Mount[];
}

/** What runs to its end in a new pod before its process starts. */
export const firstContainers = (context: Context, component: Component, { image, mounts }: Around): Container[] => [
  ...gates(component, image),
  ...unfinished(context, component, mounts),
  ...preparation(context, component, { image, mounts }),
];

/** Waits for what is on the same node at each start of the pod: after a reboot of a node the operator is not called. */
function gates(component: Component, image: string): Container[] {
  return (component.sameNode ?? []).map(({ component: name, socket }) => ({
    name: `wait-for-${name}`,
    image,
    command: ["/bin/sh", "/programs/wait-for.sh", socket],
    resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "32Mi" } },
    securityContext: containerSecurity(component),
    volumeMounts: [
      { name: "programs", mountPath: "/programs", readOnly: true },
      { name: "host-run", mountPath: "/run" },
    ],
  }));
}

/** Before a Job makes schemas, with the client of the database. */
function unfinished(context: Context, component: Component, mounts: Mount[]): Container[] {
  const { schemas, service } = component;
  if (!schemas) return [];
  const name = "unfinished-schema";
  return [
    {
      name,
      image: imageOf(context.deployment.spec, { ...component, image: "mariadb" }),
      command: underLines({ ...component, name }, ["/bin/sh", "/programs/db-unfinished.sh", service, ...schemas]),
      env: environmentOf(context, component),
      resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
      securityContext: containerSecurity(component),
      volumeMounts: mounts.filter((each) => ["programs", "credentials", "tmp"].includes(each.name)),
    },
  ];
}

/** The name of the container that prepares a volume. */
export const PREPARATION = "prepare-data";

function preparation(context: Context, component: Component, { image, mounts }: Around): Container[] {
  const { prepares } = component;
  if (!prepares) return [];
  return [
    {
      name: PREPARATION,
      image,
      command: underLines({ ...component, name: PREPARATION }, prepares),
      env: environmentOf(context, component),
      resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
      securityContext: containerSecurity(component),
      volumeMounts: mounts,
    },
  ];
}
