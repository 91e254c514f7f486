import type { PlannedEvent } from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { ignored } from "../resources/findings.ts";
import type { MachineContext } from "./model.ts";

/** Differences between the spec and the server that only a new machine can make true. */
export function ignoredChanges(context: MachineContext, server: Server): PlannedEvent[] {
  const { spec, status } = context.object;
  const { flavors, images } = context.cloud;
  const flavor = flavors.find(
    (f) => f.id === spec.flavor.id || (spec.flavor.filter?.name && f.name === spec.flavor.filter.name),
  );
  const image = spec.image.id ? spec.image.id : images.filter((i) => i.name === spec.image.filter?.name).at(0)?.id;
  const resolved = status?.resolved;
  const changes: string[] = [];
  if (flavor && resolved?.flavorID && flavor.id !== resolved.flavorID) {
    changes.push(
      `spec.flavor is ${flavor.name}, but the server was made with flavor ${nameOf(flavors, resolved.flavorID)}`,
    );
  }
  if (image && resolved?.imageID && image !== resolved.imageID) {
    changes.push(
      `spec.image is ${nameOf(images, image)}, but the server was made with image ${nameOf(images, resolved.imageID)}`,
    );
  }
  if (spec.sshKeyName !== undefined && spec.sshKeyName !== (server.key_name ?? "")) {
    changes.push(`spec.sshKeyName is ${spec.sshKeyName}, but the server was made with ${server.key_name ?? "none"}`);
  }
  return changes.map(ignored);
}

function nameOf(resources: readonly { id: string; name: string }[], id: string): string {
  return resources.find((r) => r.id === id)?.name ?? id;
}
