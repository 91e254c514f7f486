import type { PodInfo } from "../../model/pod-info.ts";
import { highest, type Score } from "./interface.ts";

const smallest = 23 * 2 ** 20;
const largestOfContainer = 1000 * 2 ** 20;

/** Nodes that have the pod's images are better, by their sizes and by how many nodes have them. */
export const imageLocalityScore: Score = {
  name: "ImageLocality",
  weight: 1,
  rate(pod, nodes, view) {
    const images = imagesOf(pod);
    const holders = images.map((image) => view.nodes.filter((node) => node.images.has(image)).length);
    if (holders.every((count) => count === 0)) return undefined;
    const largest = largestOfContainer * images.length;
    return nodes.map((node) => {
      const sum = images.reduce((total, image, i) => {
        const spread = (holders[i] ?? 0) / view.nodes.length;
        return total + Math.trunc((node.images.get(image) ?? 0) * spread);
      }, 0);
      const bounded = Math.min(Math.max(sum, smallest), largest);
      return Math.floor((highest * (bounded - smallest)) / (largest - smallest));
    });
  },
};

function imagesOf({ spec }: PodInfo): string[] {
  return [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ image }) =>
    image === undefined ? [] : [withTag(image)],
  );
}

/** An image without a tag is the latest. */
function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}
