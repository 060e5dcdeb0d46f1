/** Values of flags by their names in camel case; a flag that may be repeated takes a list. */
export type GivenFlags = Readonly<Record<string, string | number | boolean | readonly string[]>>;
