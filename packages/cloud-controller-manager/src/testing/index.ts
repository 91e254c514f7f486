export { World, type WorldOptions, type WorldServer } from "./world.ts";
