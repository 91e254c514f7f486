import type { CloudWatch } from "@causeway/openstack";
import { requireNamed } from "../../../clusters/require-named.ts";

/**
 * Checks whether the cloud has the flavor and the image before anything is made. The lists are those that the
 * controllers read anyway: this costs no call.
 * @throws FLAVOR_NOT_FOUND, IMAGE_NOT_FOUND, with those there are
 */
export async function checkDemoInput(
  watch: Pick<CloudWatch, "flavors" | "images">,
  wanted: { readonly flavor: string; readonly image: string },
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([watch.flavors.start(signal), watch.images.start(signal)]);
  requireNamed("flavor", wanted.flavor, watch.flavors.list());
  requireNamed("image", wanted.image, watch.images.list());
}
