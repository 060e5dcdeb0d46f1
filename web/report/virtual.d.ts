/** The script of the page, and its styles, as the build inlines them. */
declare module 'report:script' {
  const text: string;
  export default text;
}
declare module 'report:styles' {
  const text: string;
  export default text;
}
