// The tab GraphiQL: the editor, told where the server is, what to open with and where to keep it.
import './workers';
import { useGraphiQL, useGraphiQLActions, useMonaco } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect } from 'react';
import 'graphiql/style.css';
import { useLoaded } from '../api/useLoaded';
import icon from '../favicon.svg';
import { completeFromStore } from './completion';
import { EMPTY_TAB, readExamples } from './examples';
import { fetcher } from './fetcher';
import { takeHandover, useHandover } from './handover';
import { EXAMPLES_WITHOUT_DATA } from './sampleExamples';
import { storage } from './storage';

/**
 * GraphiQL shows its "Persist headers" switch but forgets it on reload unless told here.
 * Headers hold tokens, so they stay out of the browser's storage until somebody asks.
 */
const keepsHeaders = storage.getItem('graphiql:shouldPersistHeaders') === 'true';

/** The file's name is relative to this module, not to the page. */
const iconUrl = new URL(icon, import.meta.url).href;

export default function Editor() {
  const { data, error } = useLoaded('examples', readExamples);
  if (!data && !error) return <p className="notice">Loading GraphiQL …</p>;
  return (
    <GraphiQL
      fetcher={fetcher}
      storage={storage}
      defaultTabs={data ?? EXAMPLES_WITHOUT_DATA}
      defaultQuery={EMPTY_TAB}
      defaultEditorToolsVisibility="variables"
      shouldPersistHeaders={keepsHeaders}
      showPersistHeadersSettings
      schemaDescription
    >
      <GraphiQL.Logo>
        <a className="phyllo-logo" href="schema.graphql" title="The schema as text">
          <img src={iconUrl} alt="" width="20" height="20" />
          Phyllo
        </a>
        <HandedOver />
        <Completion />
      </GraphiQL.Logo>
    </GraphiQL>
  );
}

/** Opens a query that Explore hands over in a tab of its own, once the editors are there. */
function HandedOver() {
  const handover = useHandover();
  const { addTab } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  useEffect(() => {
    if (!handover || !queryEditor || !variableEditor) return;
    takeHandover();
    addTab();
    queryEditor.setValue(handover.query);
    variableEditor.setValue(handover.variables ?? '');
  }, [handover, queryEditor, variableEditor, addTab]);
  return null;
}

/** Completion inside of strings, once Monaco is loaded. */
function Completion() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => (monaco ? completeFromStore(monaco) : undefined), [monaco]);
  return null;
}
