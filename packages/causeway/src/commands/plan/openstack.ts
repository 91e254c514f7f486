import { OpenStackDeployment } from "@causeway/api";
import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import { previewOpenStack, type Preview } from "@causeway/openstack-operator";
import { parse } from "yaml";
import { withManagement } from "../../clusters/place.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import { findDeployment } from "../explain/action.ts";
import type { PlanOpenStackOptions } from "./options.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Prints what a change of an OpenStackDeployment would restart, run again and write.
 * @throws OPENSTACK_DEPLOYMENT_NOT_FOUND, OPENSTACK_FILE_INVALID
 */
export async function planOpenStack(options: PlanOpenStackOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const given = options.filename === undefined ? undefined : readDeployment(options.filename);
    const name = given?.metadata.name ?? options.deployment;
    const current = await findDeployment(client, { namespace, name }, signal);
    const preview = await previewOpenStack(createInformers(client), current, given ?? current, signal);
    process.stdout.write(documentOf(preview, options.output) ?? renderPreview(preview));
    if (options.detailedExitcode && changes(preview) > 0) process.exitCode = exitStatus.findings;
  });
}

const HINT = "Specify a file with one OpenStackDeployment, as `kubectl apply -f` takes it.";

function readDeployment(path: string): OpenStackDeployment {
  try {
    const object = parse(readTextFile(path), { maxAliasCount: 100 }) as Partial<OpenStackDeployment> | null;
    if (object?.kind === OpenStackDeployment.kind && object.spec && object.metadata?.name)
      return object as OpenStackDeployment;
  } catch (cause) {
    throw new InputError("OPENSTACK_FILE_INVALID", `${path} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: HINT,
    });
  }
  throw new InputError("OPENSTACK_FILE_INVALID", `${path} is not an OpenStackDeployment with a name and a spec.`, {
    hint: HINT,
  });
}

const changes = ({ refused, restarts, reruns, creates, touches, deletes }: Preview): number =>
  (refused === undefined ? 0 : 1) + restarts.length + reruns.length + creates.length + touches.length + deletes.length;

/** What a change would do, as text. */
export function renderPreview(preview: Preview): string {
  if (preview.refused !== undefined) return `Refused: ${preview.refused}\n`;
  if (changes(preview) === 0 && preview.images.length === 0) return "Nothing would change.\n";
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const first = preview.first;
  return [
    first === undefined ? "" : `The upgrade to ${first} comes first. Compare again when it is over.\n`,
    part(
      "Images that have to be in the registry before:",
      preview.images.flatMap(({ image, containerfile }) => [
        image,
        ...containerfile
          .trimEnd()
          .split("\n")
          .map((line) => `| ${line}`),
      ]),
    ),
    part("Jobs that run, in this order:", preview.reruns),
    part("Components that are created, in this order:", preview.creates),
    part(
      "Components whose pods are replaced, in this order:",
      preview.restarts.map(({ component, pods }) => `${component} (${pods} pods)`),
    ),
    part("Objects that are created:", preview.touches),
    part("Objects that are deleted at the end:", preview.deletes),
  ].join("");
}
