// Waits until a port of this name exists, and logs the changes of all ports meanwhile: one list for all of them.
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";

const cloud = connectCloud(loadCloudsYaml({ cloud: process.env["OS_CLOUD"] }));
const watch = watchCloud(cloud);
const name = process.argv[2] ?? "example";
const found = new Promise<void>((resolve) =>
  watch.ports.onChange(({ type, object }) => {
    console.log(type, object.name, object.status);
    if (object.name === name && type !== "deleted") resolve();
  }),
);
try {
  await watch.ports.start();
  watch.ports.hurry();
  await found;
} finally {
  await watch.close();
  await cloud.close();
}
