declare module '*.css';
declare module '*.svg';
declare module '*.ndjson' {
  const file: string;
  export default file;
}
declare module '*.schema.json' {
  const schema: object;
  export default schema;
}
