/**
 * `npm run openstack-images`: builds the images of OpenStack's components, if they are not built yet (root, Debian 12).
 */
import { openStackImages } from "./build.ts";

const { folder } = await openStackImages();
console.log(`images are in ${folder}`);
