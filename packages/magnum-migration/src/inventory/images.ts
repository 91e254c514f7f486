import type { Image } from "@causeway/openstack";
import type { NodeGroup } from "./model.ts";

/** An image by the id or name that something has of it, and what Glance has by that. */
export interface ImageFacts {
  readonly ident: string;
  readonly found: readonly Pick<Image, "id" | "name" | "status">[];
}

/** What new nodes of Cluster API boot from. */
export interface NodeImage {
  readonly id: string;
  readonly name: string;
}

/** Why no node can be made of an image, with a code. */
interface ImageProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** `os_distro` of images that Magnum's Heat driver boots: Ignition and its own scripts make nodes of them. */
const heats: readonly string[] = ["fedora-coreos", "fedora-atomic", "coreos"];

const HINT =
  "Specify one with cloud-init, containerd, kubelet and kubeadm of the cluster's version: --node-image NAME|ID.";

/** Undefined: the image says nothing of it. */
function distributionOf(image: object): string | undefined {
  const value = (image as Readonly<Record<string, unknown>>)["os_distro"];
  return typeof value === "string" && value !== "" ? value.toLowerCase() : undefined;
}

const named = ({ id, name }: NodeImage): string => `image ${name} (${id})`;

/** Of what new nodes are made, in words. */
export const nodeImageText = (image: NodeImage | undefined): string =>
  image === undefined ? "the images that Heat's have" : named(image);

/** Why nodes cannot be made of an image; undefined: nothing is known against it. */
export function imageProblem({ ident, found }: ImageFacts): ImageProblem | undefined {
  const [image] = found;
  if (image === undefined)
    return { code: "MIGRATE_NODE_IMAGE_UNKNOWN", message: `Glance has no image ${ident} for this project`, hint: HINT };
  if (found.length > 1)
    return {
      code: "MIGRATE_NODE_IMAGE_AMBIGUOUS",
      message: `Glance has ${found.length} images with the name ${ident}, such as ${image.id}`,
      hint: "Specify one of them by its id: --node-image ID.",
    };
  if (image.status !== "active")
    return {
      code: "MIGRATE_NODE_IMAGE_INACTIVE",
      message: `The ${named(image)} is ${image.status}, not active`,
      hint: HINT,
    };
  const distribution = distributionOf(image);
  if (distribution === undefined || !heats.includes(distribution)) return undefined;
  return {
    code: "MIGRATE_NODE_IMAGE_UNFIT",
    message: `The ${named(image)} has os_distro ${distribution}: it has neither cloud-init nor kubeadm, and no node made of it joins the cluster`,
    hint: HINT,
  };
}

/** The images of node groups, and by which groups each is used. */
export interface GroupImage extends ImageFacts {
  readonly groups: readonly string[];
}

/** The images by which node groups make new nodes. Default of `identOf`: the group's own. */
export function groupImages(
  groups: readonly Pick<NodeGroup, "name" | "imageId">[],
  images: readonly ImageFacts[],
  identOf: (group: Pick<NodeGroup, "imageId">) => string = ({ imageId }) => imageId,
): GroupImage[] {
  return images.flatMap((image) => {
    const own = groups.filter((group) => identOf(group) === image.ident).map(({ name }) => name);
    return own.length === 0 ? [] : [{ ...image, groups: own }];
  });
}

/** What to know about the images of new nodes before they are made: problems, and images that say nothing. */
export function imageNotes(images: readonly GroupImage[]): string[] {
  return images.flatMap((facts) => {
    const groups = `node group ${facts.groups.join(", ")}`;
    const problem = imageProblem(facts);
    if (problem) return [`${groups}: ${problem.message} (${problem.code}); roll will be refused. ${problem.hint}`];
    const [image] = facts.found;
    return image === undefined || distributionOf(image) !== undefined
      ? []
      : [
          `${groups}: the ${named(image)} has no os_distro; new nodes need cloud-init, containerd, kubelet and kubeadm in it`,
        ];
  });
}
