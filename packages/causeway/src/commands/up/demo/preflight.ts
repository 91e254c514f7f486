import { InputError } from "@causeway/foundation";
import type { CloudInformer, CloudWatch } from "@causeway/openstack";

interface Named {
  readonly id: string;
  readonly name?: string | null;
}

/**
 * Looks whether the cloud has the flavor and the image before anything is made. The lists are those that the controllers
 * read anyway: this costs no call.
 * @throws FLAVOR_NOT_FOUND, IMAGE_NOT_FOUND, with those there are
 */
export async function checkDemoInput(
  watch: Pick<CloudWatch, "flavors" | "images">,
  wanted: { readonly flavor: string; readonly image: string },
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([watch.flavors.start(signal), watch.images.start(signal)]);
  require(watch.flavors, "flavor", wanted.flavor);
  require(watch.images, "image", wanted.image);
}

function require(informer: CloudInformer<Named & { id: string }>, what: "flavor" | "image", name: string): void {
  if (informer.byIndex("name", name).length > 0) return;
  const names = [...new Set(informer.list().map((item) => item.name ?? item.id))].sort();
  throw new InputError(
    `${what.toUpperCase()}_NOT_FOUND`,
    `there is no ${what} ${name} in the cloud; there are: ${names.join(", ")}`,
    { hint: `Choose one of them with --${what}. Nothing was made.` },
  );
}
