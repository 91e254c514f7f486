import { InputError } from "@causeway/foundation";
import { isUuid } from "@causeway/magnum-api";
import type { Cloud } from "@causeway/openstack";
import { imageProblem, type ImageFacts, type NodeImage } from "./images.ts";

type Images = Pick<Cloud, "image">;

/** Reads what Glance has by an id or a name. */
async function readImage({ image }: Images, ident: string, signal: AbortSignal): Promise<ImageFacts> {
  const byId = isUuid(ident) ? await image.images.find(ident, { signal }) : undefined;
  if (byId) return { ident, found: [byId] };
  const named = await image.images.all({ name: ident }, { signal });
  return { ident, found: named.filter(({ name }) => name === ident) };
}

/** Reads each image once. */
export async function readImages(
  cloud: Images,
  idents: readonly string[],
  signal: AbortSignal,
): Promise<readonly ImageFacts[]> {
  return Promise.all([...new Set(idents)].map((ident) => readImage(cloud, ident, signal)));
}

/**
 * The image that was named for new nodes.
 * @throws MIGRATE_NODE_IMAGE_UNKNOWN, MIGRATE_NODE_IMAGE_AMBIGUOUS, MIGRATE_NODE_IMAGE_INACTIVE,
 * MIGRATE_NODE_IMAGE_UNFIT
 */
export async function requireImage(cloud: Images, ident: string, signal: AbortSignal): Promise<NodeImage> {
  const facts = await readImage(cloud, ident, signal);
  const problem = imageProblem(facts);
  if (problem) throw new InputError(problem.code, problem.message, { hint: problem.hint });
  const [image] = facts.found;
  return { id: image?.id ?? ident, name: image?.name ?? ident };
}
