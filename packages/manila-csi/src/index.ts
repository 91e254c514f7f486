export { startDriver, type DriverOptions, type RunningDriver } from "./driver.ts";
